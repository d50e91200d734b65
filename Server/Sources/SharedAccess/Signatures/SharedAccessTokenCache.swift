import RichPushModel

/// The tokens a client holds, so that it signs once in a while and not for each request. A value: its owner guards it.
public struct SharedAccessTokenCache: Sendable {
    /// How long a new token is valid.
    public static let lifetime = Duration.seconds(3600)
    /// A token with less than this left is not handed out again: requests may wait, and clocks differ.
    public static let remainder = Duration.seconds(600)
    /// The most audiences that are remembered.
    public static let capacity = 64

    private struct Entry {
        var token: String
        var expiresAt: Timestamp
    }

    private let signer: SharedAccessSigner
    private var entries: [String: Entry] = [:]

    /// Creates an empty cache.
    public init(_ signer: SharedAccessSigner) { self.signer = signer }

    /// A token for the audience that is valid for some minutes from now at least.
    public mutating func token(for audience: String, now: Timestamp) -> String {
        if let entry = entries[audience], now + Self.remainder < entry.expiresAt, entry.expiresAt <= now + Self.lifetime {
            return entry.token
        }
        if entries.count >= Self.capacity { entries.removeAll() }
        let expiresAt = now + Self.lifetime
        let token = signer.token(audience: audience, expiresAt: expiresAt)
        entries[audience] = Entry(token: token, expiresAt: expiresAt)
        return token
    }

    /// Forgets all tokens, for example after the server called one expired.
    public mutating func removeAll() { entries = [:] }
}
