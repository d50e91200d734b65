import Crypto
import RichPushModel
import WireText

/// One attempt to sign in with a password, as it is counted.
public struct SignInAttempt: Hashable, Sendable {
    /// A digest of the user name. The name itself is not kept, because people type passwords into the field for the name.
    public let account: String
    /// The network of the caller.
    public let source: SourceAddress

    /// Creates an attempt. The case of the name does not matter, and its first 64 characters count.
    public init(user: String, source: SourceAddress) {
        account = Self.account(of: user)
        self.source = source
    }

    /// The digest of a user name: 128 bits in hexadecimal.
    public static func account(of user: String) -> String {
        let digest = SHA256.hash(data: Array("sign-in account\n\(user.prefix(64).lowercased())".utf8))
        return Hexadecimal.text(of: digest.prefix(16))
    }
}
