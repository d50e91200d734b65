import Crypto
import CryptoExtras
import Foundation
import RichPushModel
import WireText

/// A key of a made-up issuer.
struct BenchKey {
    static let issuer = "https://id.example.test"

    let algorithm: String
    /// The set with this key alone.
    let keySet: String
    private let sign: ([UInt8]) throws -> [UInt8]
    /// The library's check of a signature over some bytes, without anything around it.
    let verifies: (_ signature: [UInt8], _ bytes: [UInt8]) -> Bool

    /// One key of each kind that issuers use.
    static func all() throws -> [BenchKey] { [try rsa(), elliptic(), edwards()] }

    /// A token that holds for an hour, as large as those of usual issuers.
    func token() throws -> String {
        let now = SystemClock().now.milliseconds / 1_000
        let claims = """
            {"iss":"\(Self.issuer)","aud":["app","other-app"],"sub":"ann","iat":\(now),"exp":\(now + 3600),"azp":"app",\
            "jti":"5f1a2b3c-4d5e-6f70-8192-a3b4c5d6e7f8","scope":"openid profile","groups":["gold","north","beta"]}
            """
        let signed = [#"{"alg":"\#(algorithm)","kid":"k1","typ":"JWT"}"#, claims].map { Base64URL.text(of: Array($0.utf8)) }
            .joined(separator: ".")
        return signed + "." + Base64URL.text(of: try sign(Array(signed.utf8)))
    }

    private init(
        _ algorithm: String, _ members: String, verifies: @escaping ([UInt8], [UInt8]) -> Bool,
        sign: @escaping ([UInt8]) throws -> [UInt8]
    ) {
        self.algorithm = algorithm
        self.verifies = verifies
        keySet = #"{"keys":[{"kid":"k1","alg":"\#(algorithm)",\#(members)}]}"#
        self.sign = sign
    }

    private static func rsa() throws -> BenchKey {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let publicKey = key.publicKey
        let numbers = try publicKey.getKeyPrimitives()
        let (n, e) = (Base64URL.text(of: Array(numbers.modulus)), Base64URL.text(of: Array(numbers.publicExponent)))
        let verifies: ([UInt8], [UInt8]) -> Bool = { signature, bytes in
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return publicKey.isValidSignature(signature, for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
        }
        return BenchKey("RS256", #""kty":"RSA","n":"\#(n)","e":"\#(e)""#, verifies: verifies) { bytes in
            Array(try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }

    private static func elliptic() -> BenchKey {
        let key = P256.Signing.PrivateKey()
        let publicKey = key.publicKey
        let point = Array(publicKey.rawRepresentation)
        let (x, y) = (Base64URL.text(of: Array(point[..<32])), Base64URL.text(of: Array(point[32...])))
        let verifies: ([UInt8], [UInt8]) -> Bool = { signature, bytes in
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return publicKey.isValidSignature(signature, for: bytes)
        }
        return BenchKey("ES256", #""kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)""#, verifies: verifies) { bytes in
            Array(try key.signature(for: bytes).rawRepresentation)
        }
    }

    private static func edwards() -> BenchKey {
        let key = Curve25519.Signing.PrivateKey()
        let x = Base64URL.text(of: Array(key.publicKey.rawRepresentation))
        let publicKey = key.publicKey
        return BenchKey(
            "EdDSA", #""kty":"OKP","crv":"Ed25519","x":"\#(x)""#, verifies: { publicKey.isValidSignature($0, for: $1) },
            sign: { Array(try key.signature(for: $0)) })
    }
}
