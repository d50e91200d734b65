import RichPushModel

/// Something that the server should hear as soon as it can be reached.
struct OutboxItem: Hashable, Sendable, Codable {
    enum Work: Hashable, Sendable, Codable {
        case receipt(Receipt)
        /// The user opened it.
        case read(RichID)
    }

    /// The same for the same fact, so that noting it twice keeps it once.
    var id: String
    var createdAt: Timestamp
    var work: Work
}
