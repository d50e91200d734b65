import APNsProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Receives each request and each answer, for a page or a log that shows what went over the wire.
///
/// Called on the client's event loop: return at once. Nothing secret is passed on: no `authorization`, no body, and the
/// device token shortened to six characters. A client without an observer does none of this work.
public protocol APNsClientObserver: Sendable {
    /// A request was written.
    func clientDidSend(_ request: APNsRequestReport)
    /// A push ended.
    func clientDidFinish(_ answer: APNsAnswerReport)
}

/// A request as it went out.
public struct APNsRequestReport: Sendable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        public var name: String
        public var value: String
    }

    public var apnsID: UUID?
    /// In the order of the wire, pseudo-header fields first, without `authorization`.
    public var fields: [Field]
    /// The size of the body in bytes.
    public var payloadSize: Int
    /// Counts the client's connections from 1.
    public var connection: Int
    public var stream: Int
    /// Whether this push was sent before and provably not processed.
    public var isResend: Bool
}

/// How a push ended.
public struct APNsAnswerReport: Sendable {
    /// The `apns-id` that the push was sent with.
    public var apnsID: UUID?
    public var outcome: APNsOutcome
    /// From the call of `send` to the outcome.
    public var duration: Duration
}
