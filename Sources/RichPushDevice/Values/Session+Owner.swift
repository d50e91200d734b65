import RichPushModel

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// Whose a push is, as far as it says so itself.
enum PushOwner: Hashable, Sendable {
    case thisUser, another
    /// It carries no mark: it is for several users, or its server makes none.
    case unsaid
}

extension Session {
    /// Compares the mark of a push with this user's.
    func owner(of id: RichID, marked subject: SubjectMark?) -> PushOwner {
        guard let subject else { return .unsaid }
        let own = SubjectMark(digest: SHA256.hash(data: SubjectMark.message(of: id, for: user)))
        return subject == own ? .thisUser : .another
    }

    /// Whether the words that came with a push may be shown before the server has said whose they are.
    func mayShowWords(of id: RichID, marked subject: SubjectMark?) -> Bool {
        switch owner(of: id, marked: subject) {
        case .thisUser: true
        case .another: false
        case .unsaid: !isShared
        }
    }
}
