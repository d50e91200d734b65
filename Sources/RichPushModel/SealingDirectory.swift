/// The answer to `GET /api/v1/sealing?users=alice,bob`: for whom to seal, and under which number.
///
/// Whoever seals for the keys that a server names trusts that server to name the right ones; to trust nobody, take the keys from
/// elsewhere and only the number from here.
public struct SealingDirectory: Hashable, Sendable, Codable {
    /// The public key of one installation.
    public struct Key: Hashable, Sendable, Codable {
        public var installation: InstallationID
        /// Whose installation it is.
        public var user: String
        /// Base64 of 32 bytes (X25519).
        public var key: String
        /// When the installation was bound as it is now; its key is at least as old.
        public var since: Timestamp

        /// Creates an entry.
        public init(installation: InstallationID, user: String, key: String, since: Timestamp) {
            self.installation = installation
            self.user = user
            self.key = key
            self.since = since
        }
    }

    /// The number for the next sealed send. It is not reserved: a send that comes too late gets 409.
    public var number: RichID
    /// Installations that are signed in and open sealed content, by user and installation.
    public var keys: [Key]

    /// Creates an answer.
    public init(number: RichID, keys: [Key]) {
        self.number = number
        self.keys = keys
    }
}
