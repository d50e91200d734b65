/// What stands between this program and the database.
public enum DatabasePooler: String, Hashable, Sendable, CaseIterable {
    /// Nothing, or a pooler that gives each connection one of the server's for as long as it lasts.
    case session
    /// A pooler that gives one for each transaction: what is prepared or listened to on one is not there on the next.
    case transaction
}
