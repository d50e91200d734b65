import RichPushModel

/// What the operator does with the database itself.
public struct DatabaseAdministration: Sendable {
    private let settings: Settings

    /// Works on the data directory of these settings.
    public init(settings: Settings) { self.settings = settings }

    /// Brings the schema up to date, as the start of the server does; returns the schema's number before and after. Throws when a
    /// server runs on the database.
    public func upgrade() async throws -> (from: Int, to: Int) {
        try await NodeStorage.upgrade(settings, at: SystemClock().now)
    }
}
