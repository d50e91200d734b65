import RichPushModel

/// Something that the server should hear as soon as it can be reached.
struct OutboxItem: Hashable, Sendable, Codable {
    enum Work: Hashable, Sendable, Codable {
        case receipt(Receipt)
        /// The user opened it.
        case read(RichID)
        /// The user answered it.
        case reply(RichID, Reply)
    }

    /// The same for the same fact, so that noting it twice keeps it once.
    var id: String
    var createdAt: Timestamp
    var work: Work

    /// The answer, if it is one, and to what.
    var reply: (id: RichID, reply: Reply)? {
        if case .reply(let id, let reply) = work { (id, reply) } else { nil }
    }
}
