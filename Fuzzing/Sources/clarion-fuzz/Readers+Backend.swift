import Foundation
import RichPushModel
import RichPushSealing
import ServiceErrors
import WireText

@testable import AppBackend
@testable import ContentStorage
@testable import PushHub
@testable import SharedAccess
@testable import SimulatedPhonePage

/// Other untrusted bytes: uploads, credentials, files and the answers of a store.
extension FuzzedReader {
    static let backend = [
        FuzzedReader("media", readMedia), FuzzedReader("apns-file", readPushFile), FuzzedReader("sealed-envelope", readEnvelope),
        FuzzedReader("shared-access", readSharedAccess), FuzzedReader("connection-string", readConnectionString),
        FuzzedReader("credentials", readCredentials), FuzzedReader("s3-answer", readStoreAnswer),
    ]

    /// What is stored does not depend on the pieces in which a file comes, is not longer by more than an orientation, and stays as it
    /// is when it is cleaned again.
    @Sendable private static func readMedia(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let size = 1 + input.choice(below: 64)
        let file = input.rest
        let window = Array(file.prefix(MediaSniffer.window))
        guard let format = MediaSniffer.format(of: window) else { return }
        let whole = stored([file], format)
        precondition(whole == stored(file.pieces(of: size), format), "the pieces decide what is stored")
        guard let once = whole else { return }
        precondition(once.count <= file.count + 64, "a file grows")
        precondition(stored([once], format) == once, "a cleaned file changes when it is cleaned again")
    }

    private static func stored(_ pieces: [[UInt8]], _ format: MediaFormat) -> [UInt8]? {
        guard var filter = MetadataFilter(format: format, pixelLimit: 100_000_000) else { return pieces.flatMap(\.self) }
        var output: [UInt8] = []
        do throws(ServiceError) {
            for piece in pieces { output += try filter.take(piece) }
            return output + (try filter.end())
        } catch {
            precondition([.unsupportedContent, .contentTooLarge].contains(error.code), "a refusal of another kind")
            return nil
        }
    }

    /// A push as a file: as the page reviews it, as a hub takes it and as a phone reads it.
    @Sendable private static func readPushFile(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        _ = HandPushReview(push: HandPush(payload: text), bundleID: "com.example.app").findings
        _ = PushEnvelope(payload: Data(bytes))
        guard (try? PushBodyReader.aps(in: bytes)) != nil else { return }
        precondition((try? JSONDecoder().decode(AnyBody.self, from: Data(bytes))) != nil, "what was taken is no JSON")
    }

    private struct AnyBody: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// An envelope as a device gets it. The file lies where the run may write.
    @Sendable private static func readEnvelope(_ bytes: [UInt8]) {
        let file = URL(fileURLWithPath: "envelope-\(ProcessInfo.processInfo.processIdentifier)")
        guard (try? Data(bytes).write(to: file)) != nil, let envelope = try? SealedEnvelope(file) else { return }
        guard let id = RichID(number: 1), let installation = InstallationID("device") else { return }
        let opened = try? envelope.open(for: id, installation: installation, with: deviceKey)
        precondition(opened == nil, "an envelope opens that was never sealed")
    }

    private static let deviceKey = SealingPrivateKey()

    /// A header of a hub's client: no token is believed but one that a key of the hub signed, and both ways of verifying agree.
    @Sendable private static func readSharedAccess(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let request = SharedAccessRequest(hosts: ["push.example.test"], path: "/demo/messages", now: now)
        let plain = SharedAccessSignature.verify(header: text, for: request, rules: rules)
        precondition(plain == SharedAccessVerifier().verify(header: text, for: request, rules: rules), "the verifiers disagree")
        if case .success = plain { preconditionFailure("an unsigned token is accepted") }
        if let audience = SharedAccessAudience(encoded: text) {
            _ = audience.admits(hosts: ["push.example.test"], path: "/demo/messages")
        }
        let made = SharedAccessSigner(ruleName: rules[0].name, key: rules[0].primary).token(
            audience: text, expiresAt: Timestamp(seconds: 1_900_000_000))
        if let again = try? SharedAccessSignature(header: made) {
            precondition(again.signingGrant(among: rules) != nil, "an own token is not believed")
        }
    }

    private static let rules = AccessRule.defaults()
    private static let now = Timestamp(seconds: 1_800_000_000)

    @Sendable private static func readConnectionString(_ bytes: [UInt8]) {
        guard let string = try? ConnectionString(String(decoding: bytes, as: UTF8.self)) else { return }
        precondition((try? ConnectionString(string.text)) == string, "a connection string is read as another")
    }

    @Sendable private static func readCredentials(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let hash = PasswordHash(stored: text) {
            precondition(PasswordHash(stored: hash.stored) == hash, "a stored hash is read as another")
        }
        if let basic = BasicCredential(header: text) { precondition(!basic.user.contains(":"), "a name with a colon") }
        if let credential = InstallationCredential(text: text) {
            precondition(InstallationCredential(text: credential.text)?.digest == credential.digest, "a credential changes")
        }
        if let secret = PrefixedSecret(text: text) { precondition(secret.text == text, "a secret has two spellings") }
        precondition(tickets.verify(text, now: now) == nil, "an unsigned ticket is accepted")
        if let bytes = Base64URL.bytes(of: text) { precondition(Base64URL.text(of: bytes) == text, "bytes have two spellings") }
        _ = MasterKey(text: text)
        precondition((try? box.open(text, for: "fuzz")) == nil, "a text opens that was never sealed")
    }

    private static let tickets = ContentTicketSigner()
    private static let box = SecretBox(.random())

    /// An answer of an S3-compatible store.
    @Sendable private static func readStoreAnswer(_ bytes: [UInt8]) {
        _ = S3Document(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        if let moment = HTTPDate.moment(text) ?? S3Moment.read(document: text) { _ = S3Moment.stamp(moment) }
    }
}
