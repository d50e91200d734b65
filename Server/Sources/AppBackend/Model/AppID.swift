/// The app that a row belongs to. Every row of the app backend carries one; `/api` is the default app.
public struct AppID: Hashable, Sendable {
    public let number: Int64

    /// Creates an id.
    public init(_ number: Int64) { self.number = number }

    /// The app behind `/api`.
    public static let standard = AppID(1)
}
