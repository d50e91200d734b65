/// Why something could not be sealed or opened. It never says what was inside.
public enum SealingError: Error, Hashable, Sendable {
    /// A seal has 1 to `Sealer.recipientLimit` recipients, each named once.
    case badRecipients
    /// A key is 32 bytes in base64, and one of the few points that give no secret is refused.
    case badKey
    /// What is to be sealed is larger than a device takes, or empty.
    case badSize
    /// It is sealed for other keys than this one.
    case notForThisKey
    /// The bytes are not what was sealed: damaged, cut, or moved to another notification.
    case broken
    /// A file could not be read or written.
    case file
}
