import Crypto
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One attempt of a person to sign in at the provider, from the way there to the way back.
///
/// Only the person's browser keeps it, in a cookie. State, nonce and code verifier are derived from its secret, so that an answer for another
/// browser fits none of them, and no node has anything to remember for people who are not signed in.
struct ProviderAttempt: Sendable {
    /// When it began, in seconds, and 256 random bits.
    let text: String
    private let began: Timestamp
    private let key: SymmetricKey

    /// How long a person has for it.
    static let life = Duration.seconds(600)

    /// Begins an attempt.
    init(at now: Timestamp) {
        let secret = SymmetricKey(size: .bits256)
        self.init(seconds: now.milliseconds / 1_000, secret: secret.withUnsafeBytes { Array($0) })
    }

    /// Reads a cookie; `nil` when it holds no attempt.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let seconds = Int64(parts[0]), (0...253_402_300_799).contains(seconds),
            let secret = Base64URL.bytes(of: String(parts[1])), secret.count == 32
        else { return nil }
        self.init(seconds: seconds, secret: secret)
        // One attempt has one text.
        guard self.text == text else { return nil }
    }

    private init(seconds: Int64, secret: [UInt8]) {
        text = "\(seconds).\(Base64URL.text(of: secret))"
        began = Timestamp(milliseconds: seconds * 1_000)
        key = SymmetricKey(data: secret)
    }

    /// Whether it began within the last ten minutes.
    func isOpen(at now: Timestamp) -> Bool { began <= now && now - began < Self.life }

    /// Comes back with the answer ([RFC 6749 section 10.12](https://www.rfc-editor.org/rfc/rfc6749#section-10.12)).
    var state: String { derived("state") }

    /// Stands in the ID token.
    var nonce: String { derived("nonce") }

    /// Redeems the code ([RFC 7636 section 4.1](https://www.rfc-editor.org/rfc/rfc7636#section-4.1)): 43 characters.
    var verifier: String { derived("verifier") }

    /// What the provider gets first. The verifier cannot be worked out from it.
    var challenge: String { Base64URL.text(of: Array(SHA256.hash(data: Array(verifier.utf8)))) }

    /// The time is part of it, so that a cookie with a later time fits no answer.
    private func derived(_ purpose: String) -> String {
        let message = Array("clarion console sign-in 1\n\(purpose)\n\(began.milliseconds)".utf8)
        return Base64URL.text(of: Array(HMAC<SHA256>.authenticationCode(for: message, using: key)))
    }
}
