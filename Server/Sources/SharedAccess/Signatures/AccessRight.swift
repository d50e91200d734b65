/// What a key of a hub allows. No right implies another; a full rule lists all three (Reference/AzureNotificationHubs.md#1-5).
public enum AccessRight: String, Sendable, Hashable, CaseIterable, Codable {
    /// Manage registrations and installations one by one.
    case listen = "Listen"
    /// Send, schedule and cancel.
    case send = "Send"
    /// Manage hubs, list registrations, run jobs.
    case manage = "Manage"
}

extension Set<AccessRight> {
    /// The rights as words in the order of `AccessRight.allCases`, separated by commas: for storage and tables.
    public var words: String { AccessRight.allCases.filter(contains).map(\.rawValue).joined(separator: ",") }

    /// Reads what `words` gave, ignoring case; `nil` for an unknown word.
    public init?(words: String) {
        var rights: Set<AccessRight> = []
        for word in words.split(separator: ",") {
            let found = AccessRight.allCases.first { $0.rawValue.lowercased() == word.lowercased() }
            guard let found else { return nil }
            rights.insert(found)
        }
        self = rights
    }
}
