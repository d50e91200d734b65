import Crypto
import WebPushProtocol
import WireText

/// What the encryption of a push for a browser costs, beside what the library takes for the key agreement and the sealing of the same message,
/// with a key pair as it makes them.
struct WebPushCosts {
    private static let count = 20_000
    static let message = Array(repeating: UInt8(ascii: "x"), count: 300)

    /// Microseconds of the processor for one push.
    let encryption: Double
    /// The same for a new key pair, the key agreement and the sealing of the message, without keys derived and without a header.
    let reference: Double

    /// - Parameter measured: calls so often, and returns microseconds of the processor for one call.
    init(_ measured: (Int, () async throws -> Void) async throws -> Double) async throws {
        let receiver = P256.KeyAgreement.PrivateKey().publicKey
        let subscription = try WebPushSubscription(
            endpoint: "https://push.example.com/1", publicKey: Base64URL.text(of: Array(receiver.x963Representation)),
            secret: Base64URL.text(of: Array(repeating: 7, count: 16)))
        let sealing = SymmetricKey(size: .bits128)
        // In turn, so that what else the machine does meets both.
        var sums = (encryption: 0.0, reference: 0.0)
        for _ in 0..<4 {
            sums.encryption += try await measured(Self.count / 4) {
                _ = try WebPushEncryption.body(of: Self.message, for: subscription)
            }
            sums.reference += try await measured(Self.count / 4) {
                _ = try P256.KeyAgreement.PrivateKey().sharedSecretFromKeyAgreement(with: receiver)
                _ = try AES.GCM.seal(Self.message, using: sealing)
            }
        }
        (encryption, reference) = (sums.encryption / 4, sums.reference / 4)
    }
}
