/// The one error that services throw: a code from the closed list, and a sentence for the caller.
///
/// `detail` says what was wrong and where, in words that are safe to show and to log: never a secret, a device token or
/// content. `retryAfter` is in whole seconds.
public struct ServiceError: Error, Hashable, Sendable {
    public let code: ServiceErrorCode
    public let detail: String?
    public let retryAfter: Int?

    /// Creates an error.
    public init(_ code: ServiceErrorCode, _ detail: String? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
    }
}

extension ServiceError: CustomStringConvertible {
    public var description: String { detail.map { "\(code.rawValue): \($0)" } ?? code.rawValue }
}
