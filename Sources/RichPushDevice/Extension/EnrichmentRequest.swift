import RichPushModel

/// A push that the system hands to the service extension before it shows it.
public struct EnrichmentRequest: Hashable, Sendable, Codable {
    /// The system's identifier of the request.
    public var identifier: String
    /// What the push says to rich push; `nil` when it is not one of ours.
    public var envelope: PushEnvelope?
    /// What the system would show.
    public var original: NoticeContent

    /// Creates a request.
    public init(identifier: String, envelope: PushEnvelope?, original: NoticeContent) {
        self.identifier = identifier
        self.envelope = envelope
        self.original = original
    }
}
