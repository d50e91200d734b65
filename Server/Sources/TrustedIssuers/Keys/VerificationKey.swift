import JWTKit
import WireText

/// A public key with the one algorithm that it may verify
/// ([RFC 8725 section 3.1](https://www.rfc-editor.org/rfc/rfc8725#section-3.1)).
///
/// The library takes private keys, ignores `use`, and lets the header of the first token choose the algorithm of a key without `alg`.
/// So an entry is checked here first, and the algorithm is filled in.
struct VerificationKey: Sendable {
    let id: String?
    let algorithm: SignatureAlgorithm
    private let verifier: any JWTAlgorithm

    /// The most bytes of a `kid`.
    static let maximumIDLength = 256

    /// Reads an entry of a key set ([RFC 7517 section 4](https://www.rfc-editor.org/rfc/rfc7517#section-4)).
    /// - Parameter algorithms: what the issuer may use. An entry without `alg` gets the first of them that fits its kind.
    init(_ entry: ClaimValue, algorithms: [SignatureAlgorithm]) async throws(KeyEntryFault) {
        guard case .object(let members) = entry else { throw .malformed }
        guard !members.contains(where: { Self.privateMembers.contains($0.name) }) else { throw .privateKey }
        guard Self.isForSignatures(entry) else { throw .otherUse }
        guard let type = entry["kty"]?.text, let kind = KeyKind(type: type, curve: entry["crv"]?.text) else { throw .unknownKind }
        algorithm = try Self.algorithm(of: entry, kind: kind, among: algorithms)
        id = try Self.id(of: entry)
        verifier = try await Self.verifier(try Self.jwk(entry, kind: kind, algorithm: algorithm), algorithm)
    }

    /// Whether a signature is this key's over some bytes.
    func verifies(_ signature: [UInt8], over bytes: ArraySlice<UInt8>) -> Bool {
        (try? verifier.verify(signature, signs: bytes)) ?? false
    }

    /// The members of private and symmetric keys ([RFC 7518 section 6](https://www.rfc-editor.org/rfc/rfc7518#section-6)).
    private static let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"]

    /// `use` and `key_ops`, where they stand, must say so
    /// ([RFC 7517 sections 4.2 and 4.3](https://www.rfc-editor.org/rfc/rfc7517#section-4.2)).
    private static func isForSignatures(_ entry: ClaimValue) -> Bool {
        if let use = entry["use"], use.text != "sig" { return false }
        guard let operations = entry["key_ops"] else { return true }
        guard case .list = operations else { return false }
        return operations.texts?.contains("verify") == true
    }

    static func id(of entry: ClaimValue) throws(KeyEntryFault) -> String? {
        guard let id = entry["kid"] else { return nil }
        guard let text = id.text, text.utf8.count <= maximumIDLength else { throw .malformed }
        return text
    }

    private static func algorithm(
        of entry: ClaimValue, kind: KeyKind, among allowed: [SignatureAlgorithm]
    ) throws(KeyEntryFault) -> SignatureAlgorithm {
        guard let named = entry["alg"] else {
            guard let algorithm = allowed.first(where: { $0.keyKind == kind }) else { throw .otherAlgorithm }
            return algorithm
        }
        guard let algorithm = named.text.flatMap(SignatureAlgorithm.init(name:)), algorithm.keyKind == kind,
            allowed.contains(algorithm)
        else { throw .otherAlgorithm }
        return algorithm
    }

    private static func jwk(
        _ entry: ClaimValue, kind: KeyKind, algorithm: SignatureAlgorithm
    ) throws(KeyEntryFault) -> JWK {
        let id = JWKIdentifier(string: "")
        let library = algorithm.library
        switch kind {
        case .rsa:
            let modulus = try member("n", of: entry)
            let exponent = try member("e", of: entry)
            guard isStrong(modulus: modulus.bytes, exponent: exponent.bytes) else { throw .weak }
            return .rsa(library, identifier: id, modulus: modulus.text, exponent: exponent.text)
        case .p256, .p384:
            let length = kind == .p256 ? 32 : 48
            let x = try member("x", of: entry, length: length)
            let y = try member("y", of: entry, length: length)
            return .ecdsa(library, identifier: id, x: x.text, y: y.text, curve: kind == .p256 ? .p256 : .p384)
        case .ed25519:
            let x = try member("x", of: entry, length: 32)
            return .octetKeyPair(library, identifier: id, x: x.text, y: nil, curve: .ed25519)
        }
    }

    /// From 2,048 bits ([RFC 7518 section 3.3](https://www.rfc-editor.org/rfc/rfc7518#section-3.3)), up to 8,192, as a longer key costs
    /// more than a sign-in may; an odd exponent from 65,537 on in at most four bytes.
    private static func isStrong(modulus: [UInt8], exponent: [UInt8]) -> Bool {
        let modulus = modulus.drop { $0 == 0 }
        let exponent = exponent.drop { $0 == 0 }
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard (2_048...8_192).contains(bits), modulus.last.map({ $0 & 1 == 1 }) == true, exponent.count <= 4 else { return false }
        let value = exponent.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return value >= 65_537 && value & 1 == 1
    }

    private static func member(
        _ name: String, of entry: ClaimValue, length: Int? = nil
    ) throws(KeyEntryFault) -> (text: String, bytes: [UInt8]) {
        guard let text = entry[name]?.text, let bytes = Base64URL.bytes(of: text), length.map({ $0 == bytes.count }) ?? true
        else { throw .malformed }
        return (text, bytes)
    }

    /// Each key gets a collection of its own, which is asked once: so no lookup of the library, whose default key stands in for
    /// unknown ones, ever sees a token.
    private static func verifier(_ jwk: JWK, _ algorithm: SignatureAlgorithm) async throws(KeyEntryFault) -> any JWTAlgorithm {
        let key = try? await JWTKeyCollection().add(jwk: jwk).getKey(for: jwk.keyIdentifier, alg: algorithm.library.rawValue)
        guard let key, key.name == algorithm.rawValue else { throw .malformed }
        return key
    }
}

/// Why an entry of a key set is not used. The others of the set are
/// ([RFC 7517 section 5](https://www.rfc-editor.org/rfc/rfc7517#section-5)).
public enum KeyEntryFault: String, Error, CaseIterable, Sendable {
    case malformed = "malformed"
    case privateKey = "private or symmetric key"
    case otherUse = "not for signatures"
    case unknownKind = "unknown kty or crv"
    case otherAlgorithm = "algorithm not allowed"
    case weak = "weak RSA key"
    case doubledID = "kid of several keys"
}
