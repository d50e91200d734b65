import Crypto
import Foundation

/// Signs provider tokens as a client would, and as a broken client would.
struct ProviderSigner: Sendable {
    var key = P256.Signing.PrivateKey()
    var teamID = "TEAM000001"
    var keyID = "KEY0000001"

    var publicKeyPEM: String { key.publicKey.pemRepresentation }

    /// A header value. `issuedAt` is JSON text, so that a string can be tried; `header` replaces the JSON of the header.
    func authorization(issuedAt: String, header: String? = nil, der: Bool = false) -> String {
        let header = header ?? #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(issuedAt)}"#
        let text = Self.base64URL(Data(header.utf8)) + "." + Self.base64URL(Data(claims.utf8))
        guard let signature = try? key.signature(for: Data(text.utf8)) else { return "" }
        let bytes = der ? signature.derRepresentation : signature.rawRepresentation
        return "bearer " + text + "." + Self.base64URL(bytes)
    }

    static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
