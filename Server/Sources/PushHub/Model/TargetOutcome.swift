/// What became of one target, for the tallies. The raw value is stored and shown.
public enum TargetOutcome: String, Sendable, CaseIterable {
    /// The push service took it.
    case accepted
    /// The push service says the device is gone; the record was forgotten.
    case gone
    /// The push service says the token is malformed or of the other environment; the record was parked. Or a direct send named
    /// what is no token.
    case badToken = "bad-token"
    /// The push service refused this push for another reason.
    case rejected
    /// The push, or what a template made of the send, is larger than the push service takes.
    case tooLarge = "too-large"
    /// What a template made of the send is nothing that the push service takes.
    case invalidFormat = "invalid-format"
    /// Not known whether it arrived, and no more tries are left.
    case unknown
    /// Its time ran out before it could be sent.
    case expired
    /// Not sent on purpose: another record with the same handle gets it.
    case skipped
    /// Nothing here sends to it: the platform has no transport, or the environment no credential.
    case noTransport = "no-transport"
    /// The device was removed, or was not meant any more, before it could be tried again.
    case removed
}

extension TargetOutcome {
    /// Whether the device has its push, from this record or from another one of it.
    public var isDelivered: Bool { self == .accepted || self == .skipped }
}
