import APNsProtocol
import Crypto
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the `authorization` header of a request turned out to be.
enum Credential: Sendable, Hashable {
    /// A key as far as the checks look at it.
    struct Key: Sendable, Hashable {
        var teamID: String
        var keyID: String
        var environment: APNsEnvironment?
        var topics: Set<String>?
        var relatedKeyID: String?
    }

    /// Absent, empty or not `bearer …`.
    case missing
    /// Malformed, of an unknown key, or with a wrong signature.
    case invalid
    /// Signed by a known key. Whether it fits the moment and the connection is for the checks to say.
    case signed(key: Key, issuedAt: Int64)
    /// The connection showed a client certificate; the `authorization` header is ignored (Reference/APNs.md#2-4).
    case certificate(ClientCertificate)

    /// Judges a header value. Verifies a signature, so the caller keeps the result.
    init(authorization: String?, registry: ProviderRegistry) {
        guard let text = Self.bearerToken(authorization) else {
            self = .missing
            return
        }
        guard let token = PresentedToken(text), let key = registry.key(teamID: token.teamID, keyID: token.keyID),
            token.isSigned(by: key.publicKey)
        else {
            self = .invalid
            return
        }
        let known = Key(
            teamID: key.teamID, keyID: key.keyID, environment: key.environment, topics: key.topics,
            relatedKeyID: key.relatedKeyID)
        self = .signed(key: known, issuedAt: token.issuedAt)
    }

    /// The token after `bearer `, in any case of letters; `nil` if there is none.
    static func bearerToken(_ value: String?) -> String? {
        guard let value, value.utf8.count > 7, value.prefix(7).lowercased() == "bearer " else { return nil }
        let token = value.dropFirst(7)
        return token.allSatisfy { $0 == " " } ? nil : String(token)
    }
}

/// A provider token taken apart, not yet believed (Reference/APNs.md#2-1).
struct PresentedToken: Sendable, Hashable {
    var keyID: String
    var teamID: String
    /// Seconds since 1970.
    var issuedAt: Int64
    private var signedText: String
    private var signature: [UInt8]

    private struct Header: Decodable {
        var alg: String
        var kid: String
    }

    private struct Claims: Decodable {
        var iss: String
        var iat: IssuedAt
    }

    /// A number, also one with a fraction (RFC 7519, 2), or a numeric string: Apple's sample and the main Swift client send a string,
    /// a well-known Python client the time as it is.
    private struct IssuedAt: Decodable {
        var seconds: Int64

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                seconds = number
            } else if let number = try? container.decode(Double.self), let whole = Int64(exactly: number.rounded(.down)) {
                seconds = whole
            } else if let number = Int64(try container.decode(String.self)) {
                seconds = number
            } else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "iat is no number")
            }
        }
    }

    /// `nil` if the text is not three base64url parts with ES256, key id, team id and time.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 4_096, parts.count == 3,
            let headerBytes = Base64URL.bytes(of: parts[0]), let claimBytes = Base64URL.bytes(of: parts[1]),
            let signature = Base64URL.bytes(of: parts[2]), !signature.isEmpty
        else { return nil }
        let decoder = JSONDecoder()
        guard let header = try? decoder.decode(Header.self, from: Data(headerBytes)), header.alg == "ES256",
            let claims = try? decoder.decode(Claims.self, from: Data(claimBytes))
        else { return nil }
        keyID = header.kid
        teamID = claims.iss
        issuedAt = claims.iat.seconds
        signedText = parts[0] + "." + parts[1]
        self.signature = signature
    }

    /// Whether the key signed it, in the raw form of RFC 7515 or in the DER form of Apple's own command-line recipe.
    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        let text = Data(signedText.utf8)
        if signature.count == 64, let raw = try? P256.Signing.ECDSASignature(rawRepresentation: Data(signature)),
            key.isValidSignature(raw, for: text)
        {
            return true
        }
        guard let der = try? P256.Signing.ECDSASignature(derRepresentation: Data(signature)) else { return false }
        return key.isValidSignature(der, for: text)
    }
}

/// What a connection remembers of the credentials that were used on it (Reference/APNs.md#2-1 and #2-3).
struct ConnectionCredentials: Sendable {
    /// What the first accepted push bound the connection to.
    struct Binding: Sendable, Hashable {
        var teamID: String
        /// The key, if it is topic-specific; `nil` after a team-scoped one.
        var topicKeyID: String?
        var relatedKeyID: String?
        /// Apps registered later are unknown to this connection.
        var appSequence: Int
    }

    /// The provider token of a key that is in use.
    struct Current: Sendable, Hashable {
        /// The token without its scheme, which may be spelled in several ways.
        var token: String
        var issuedAt: Int64
        /// When it took the place of another one of its key; `nil` for the first.
        var changedAt: Duration?
    }

    /// Key ids are unique within a team only.
    private struct KeyName: Sendable, Hashable {
        var teamID: String
        var keyID: String

        init(_ key: Credential.Key) { (teamID, keyID) = (key.teamID, key.keyID) }
    }

    /// What the client showed in the handshake.
    var certificate: ClientCertificate?
    private(set) var binding: Binding?
    /// By key: related keys may take turns on a connection, and each has a token of its own (Reference/APNs.md#2-3).
    private var current: [KeyName: Current] = [:]
    private var judged: [String: Credential] = [:]
    private var judgedGeneration = -1

    /// The verdict on a header value, if it was judged on this connection since the keys last changed.
    mutating func known(_ authorization: String, generation: Int) -> Credential? {
        guard judgedGeneration == generation else {
            judged.removeAll()
            judgedGeneration = generation
            return nil
        }
        return judged[authorization]
    }

    /// Keeps a verdict; at most eight, since an honest client uses one or two tokens.
    mutating func keep(_ credential: Credential, for authorization: String) {
        if judged.count >= 8 { judged.removeAll() }
        judged[authorization] = credential
    }

    /// The token in use of this key; `nil` before its first.
    func current(of key: Credential.Key) -> Current? { current[KeyName(key)] }

    /// Records the token that passed every check of credentials as the one of its key in use now.
    ///
    /// - Parameter known: the token that it replaces, unless that one has expired; `nil` makes the token the first of its key.
    mutating func adopt(
        _ token: String, of key: Credential.Key, issuedAt: Int64, uptime: Duration, replacing known: Current?
    ) {
        let name = KeyName(key)
        guard let known else {
            current[name] = Current(token: token, issuedAt: issuedAt)
            return
        }
        guard known.token != token else { return }
        current[name] = Current(token: token, issuedAt: issuedAt, changedAt: uptime)
    }

    /// A push was accepted: the first one binds the connection.
    mutating func bind(to key: Credential.Key, appSequence: Int) {
        guard binding == nil else { return }
        binding = Binding(
            teamID: key.teamID, topicKeyID: key.topics == nil ? nil : key.keyID, relatedKeyID: key.relatedKeyID,
            appSequence: appSequence)
    }
}
