import RichPushModel
import WireText

/// The reading of lists of tags in JSON.
enum TagList {
    /// Reads an array of texts. Empty ones are dropped, repeats without regard to case too; so is the template's own name, which
    /// every template carries anyway (Reference/AzureNotificationHubs.md#3-1).
    static func read(_ json: WireJSON?, ownName: String? = nil) throws(HubRequestFault) -> [String] {
        guard let json else { return [] }
        guard case .array(let elements) = json else { throw HubRequestFault(at: "tags", "a list of texts is expected") }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                throw HubRequestFault(at: "tags[\(index)]", "a text is expected")
            }
            texts.append(text)
        }
        return merged([], texts, ownName: ownName)
    }

    /// The tags with others behind, in order and each once.
    static func merged(_ tags: [String], _ others: [String], ownName: String? = nil) -> [String] {
        var seen = Set(tags.map { $0.lowercased() })
        if let ownName { seen.insert(ownName.lowercased()) }
        return tags
            + others.map(\.trimmingBlanks).filter { !$0.isEmpty && seen.insert($0.lowercased()).inserted }
    }

    /// Checks number and form. The special forms `$InstallationId:{…}` and `$UserId:{…}` are admitted here; whose they are is
    /// checked with the installation.
    static func check(_ tags: [String], _ limits: HubLimits) throws(HubRequestFault) {
        guard tags.count <= limits.tags else { throw HubRequestFault(at: "tags", "there are more than \(limits.tags)") }
        for (index, tag) in tags.enumerated() where Tag.stored(tag) == nil {
            throw HubRequestFault(at: "tags[\(index)]", "a tag has 1 to 120 letters, digits and _ @ # . : -")
        }
    }
}
