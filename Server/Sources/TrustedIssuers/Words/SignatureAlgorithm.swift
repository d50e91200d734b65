import JWTKit

/// The signatures that an issuer may be trusted for. All are asymmetric: beside public keys a symmetric algorithm would let any caller
/// sign with the published key ([RFC 8725 section 2.1](https://www.rfc-editor.org/rfc/rfc8725#section-2.1)).
public enum SignatureAlgorithm: String, CaseIterable, Sendable {
    case rs256 = "RS256"
    case ps256 = "PS256"
    case es256 = "ES256"
    case es384 = "ES384"
    case edDSA = "EdDSA"

    /// Reads a name as the header of a token has it, case-sensitive
    /// ([RFC 7515 section 4.1.1](https://www.rfc-editor.org/rfc/rfc7515#section-4.1.1)). `Ed25519` is the newer name of the only curve
    /// that is taken for `EdDSA` ([RFC 9864 section 2.2](https://www.rfc-editor.org/rfc/rfc9864#section-2.2)).
    public init?(name: String) {
        if name.hasSameBytes(as: "Ed25519") {
            self = .edDSA
        } else if let algorithm = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }) {
            self = algorithm
        } else {
            return nil
        }
    }

    /// The algorithm in the terms of the library.
    var library: JWK.Algorithm {
        switch self {
        case .rs256: .rs256
        case .ps256: .ps256
        case .es256: .es256
        case .es384: .es384
        case .edDSA: .eddsa
        }
    }

    /// The kind of key that it takes.
    var keyKind: KeyKind {
        switch self {
        case .rs256, .ps256: .rsa
        case .es256: .p256
        case .es384: .p384
        case .edDSA: .ed25519
        }
    }
}

/// The kinds of public keys that are understood: `kty`, and `crv` where the type has curves
/// ([RFC 7518 section 6](https://www.rfc-editor.org/rfc/rfc7518#section-6),
/// [RFC 8037 section 2](https://www.rfc-editor.org/rfc/rfc8037#section-2)).
enum KeyKind {
    case rsa
    case p256
    case p384
    case ed25519

    /// `nil` for a kind that is not understood.
    init?(type: String, curve: String?) {
        switch (type, curve) {
        case ("RSA", _): self = .rsa
        case ("EC", "P-256"): self = .p256
        case ("EC", "P-384"): self = .p384
        case ("OKP", "Ed25519"): self = .ed25519
        default: return nil
        }
    }
}
