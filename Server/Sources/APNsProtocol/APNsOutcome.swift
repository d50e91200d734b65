import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How one push ended (Reference/APNs.md#4). An answer of APNs is a value; so is an unknown result, because the
/// caller must decide whether to retry.
public enum APNsOutcome: Hashable, Sendable {
    /// Status 200: APNs took it. `uniqueID` is present in the sandbox.
    case accepted(apnsID: UUID?, uniqueID: UUID?)
    /// APNs refused it.
    case rejected(APNsRejection)
    /// Provably not processed: sending again cannot duplicate.
    case notSent(APNsFailure)
    /// It may have been processed: sending again may duplicate.
    case unknown(APNsFailure)

    /// Whether APNs took the push. Not: delivered.
    public var isAccepted: Bool { if case .accepted = self { true } else { false } }

    /// For callers that want nothing but acceptance: returns the `apns-id` that APNs answered with, if any.
    ///
    /// - Throws: every other outcome, as an error.
    @discardableResult
    public func accepted() throws(APNsNotAccepted) -> UUID? {
        guard case .accepted(let apnsID, _) = self else { throw APNsNotAccepted(outcome: self) }
        return apnsID
    }
}

/// A refusal by APNs.
public struct APNsRejection: Hashable, Sendable {
    public var status: Int
    public var reason: APNsReason
    /// With status 410: since when the token is dead, in milliseconds since 1970.
    public var timestamp: Int64?
    /// Seconds, when the answer carried `retry-after`.
    public var retryAfter: Int?
    /// The moment, when `retry-after` was a date (RFC 9110, 10.2.3).
    public var retryAt: Timestamp?
    public var apnsID: UUID?
    /// The server's clock, when the answer carried `date`. With a 403 it shows whether this machine's is wrong
    /// (Reference/APNs.md#2-1).
    public var serverDate: Timestamp?

    /// Creates a rejection.
    public init(
        status: Int, reason: APNsReason, timestamp: Int64? = nil, retryAfter: Int? = nil, retryAt: Timestamp? = nil,
        apnsID: UUID? = nil,
        serverDate: Timestamp? = nil
    ) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
        self.retryAt = retryAt
        self.apnsID = apnsID
        self.serverDate = serverDate
    }

    /// How long the server asks to wait; absent when it asks for nothing. A date counts from the server's own clock if the answer shows
    /// it, else from `now`.
    public func pause(at now: Timestamp) -> Duration? {
        if let retryAfter { return .seconds(retryAfter) }
        return retryAt.map { max(.zero, $0 - (serverDate ?? now)) }
    }
}

/// Why there is no answer. A closed list, safe for logs and metrics.
public enum APNsFailure: String, Error, Hashable, Sendable, CaseIterable {
    /// No connection could be made in time.
    case unreachable
    /// The name of the host has no address, or the name service did not answer in time.
    case nameNotResolved = "name-not-resolved"
    /// The proxy refused the tunnel, or did not answer.
    case proxyRefused = "proxy-refused"
    /// The proxy wants other credentials.
    case proxyUnauthorized = "proxy-unauthorized"
    /// TLS failed: untrusted server, or a refused client certificate.
    case tlsFailed = "tls-failed"
    /// The connection ended before the answer.
    case connectionClosed = "connection-closed"
    /// APNs said it would not process this stream (GOAWAY, REFUSED_STREAM).
    case refusedStream = "refused-stream"
    /// APNs reset the stream for another reason.
    case streamReset = "stream-reset"
    /// APNs answers that it is unavailable, and the client waits before it tries again.
    case serviceUnavailable = "service-unavailable"
    /// APNs asked for fewer requests or fewer new provider tokens, and the client waits.
    case throttled
    /// The push's own deadline passed.
    case deadline
    /// The queue of the client is full.
    case queueFull = "queue-full"
    /// The peer broke HTTP/2.
    case protocolError = "protocol-error"
    /// The server does not choose HTTP/2, or wants the request by HTTP/1.1. Only where another protocol was offered to it as well.
    case otherProtocol = "other-protocol"
    /// The client is shutting down or the caller cancelled.
    case cancelled
    /// The connection was refused because of the credential; the GOAWAY carried the reason.
    case credentialRefused = "credential-refused"
}

/// A push that APNs did not take, or may not have taken.
public struct APNsNotAccepted: Error, Hashable, Sendable {
    /// How it ended; never `accepted`.
    public let outcome: APNsOutcome

    /// Makes an error of an outcome.
    public init(outcome: APNsOutcome) { self.outcome = outcome }

    /// Whether APNs has certainly not processed it, so that sending it again as it is cannot duplicate, and may help.
    public var isSafeToRepeat: Bool { if case .notSent = outcome { true } else { false } }
}

extension APNsNotAccepted: CustomStringConvertible {
    /// The reason that APNs or the client gives; no token and no content.
    public var description: String {
        switch outcome {
        case .accepted: "accepted"
        case .rejected(let rejection):
            "APNs refused the push: \(rejection.status) \(rejection.reason)"
        case .notSent(let failure): "the push was not sent: \(failure.rawValue)"
        case .unknown(let failure): "it is not known whether APNs took the push: \(failure.rawValue)"
        }
    }
}
