import RichPushSealing

/// Why nothing was sent. No key and no word of the message is in it.
public enum SealedSendError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A field is not what it must be.
    case unfit(field: String, rule: String)
    /// None of the users is signed in with an app that opens sealed content.
    case noKeys
    /// The pinned keys hold none of this user, who would get what nobody can open.
    case notPinned(user: String)
    /// More installations than one seal is for.
    case tooManyInstallations(Int)
    /// What was told as this user's key cannot be sealed for.
    case badKey(user: String)
    /// Other sends took each number that was sealed under.
    case overtaken

    public var description: String {
        switch self {
        case .unfit(let field, let rule): "\(field): it must be \(rule)"
        case .noKeys: "there is no key to seal for: nobody of them is signed in with an app that opens sealed content"
        case .notPinned(let user): "the keys given hold none of \(user), who could open nothing; see `clarion keys --to \(user)`"
        case .tooManyInstallations(let count):
            "a seal is for \(Sealer.recipientLimit) installations at most, and these are \(count)"
        case .badKey(let user): "the key that stands for an installation of \(user) is no key"
        case .overtaken: "other sends were faster each time; try again"
        }
    }
}
