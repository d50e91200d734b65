import PushHub
import RichPushModel
import ServiceErrors

/// Tags between the wire, where they are texts, and the hub.
enum WireTags {
    /// Reads the tags of a client. Throws `invalid-field` with the place; the two special forms are the server's alone.
    static func read(_ texts: [String]) throws(ServiceError) -> [Tag] {
        var tags: [Tag] = []
        for (index, text) in texts.enumerated() {
            guard let tag = Tag(text) else {
                throw ServiceError(
                    .invalidField, "tag \(index + 1) is not one: it has 1 to \(Tag.maximumLength) letters, digits and _ @ # . : -"
                )
            }
            tags.append(tag)
        }
        return tags
    }

    /// What a client sees: the record's own tags as given, and those that address it.
    static func all(of record: DeviceRecord) -> [String] {
        record.tags.map(\.text) + record.matchingTags.subtracting(record.tags).map(\.text).sorted()
    }
}
