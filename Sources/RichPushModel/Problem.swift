/// The body of every error answer of `/api` (RFC 9457, `application/problem+json`).
public struct Problem: Error, Hashable, Sendable, Codable {
    /// A link to the page that explains the code.
    public var type: String
    /// The same sentence for every error of this code.
    public var title: String
    /// The HTTP status.
    public var status: Int
    /// What was wrong this time, and where. Never a secret, a token or content.
    public var detail: String?
    /// The stable word for programs, for example `bad-audience`.
    public var code: String

    /// Creates a problem.
    public init(type: String, title: String, status: Int, detail: String?, code: String) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.code = code
    }
}
