import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a `.p8` file and says precisely what is wrong with one that is none.
enum ProviderTokenKeyFile {
    /// The labels that a misplaced file may carry. Only these are repeated in an error; anything else could be content.
    private static let knownLabels: Set<String> = [
        "CERTIFICATE", "CERTIFICATE REQUEST", "PUBLIC KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "EC PARAMETERS",
        "OPENSSH PRIVATE KEY", "DSA PRIVATE KEY",
    ]

    static func privateKey(pem: String) throws(ProviderTokenKeyFault) -> P256.Signing.PrivateKey {
        switch label(of: pem) {
        case nil: throw .notPEM
        case "PRIVATE KEY": break
        case "ENCRYPTED PRIVATE KEY": throw .encrypted
        case let label? where label.hasSuffix("PRIVATE KEY"): throw .notPKCS8(found: shown(label))
        case let label?: throw .notPrivateKey(found: shown(label))
        }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) { return key }
        throw isReadable(pem: pem) ? .notP256 : .damaged
    }

    private static func label(of pem: String) -> String? {
        guard let begin = pem.firstRange(of: "-----BEGIN "), let end = pem[begin.upperBound...].firstRange(of: "-----") else {
            return nil
        }
        return String(pem[begin.upperBound..<end.lowerBound])
    }

    private static func shown(_ label: String) -> String { knownLabels.contains(label) ? label : "block of an unknown kind" }

    /// Whether the block is a PKCS#8 structure at all: a DER sequence as long as it says, that begins with version 0 or 1.
    private static func isReadable(pem: String) -> Bool {
        let lines = pem.split(whereSeparator: \.isNewline)
        guard let first = lines.firstIndex(where: { $0.hasPrefix("-----BEGIN ") }),
            let last = lines[first...].firstIndex(where: { $0.hasPrefix("-----END ") }),
            let der = Data(base64Encoded: lines[(first + 1)..<last].joined())
        else { return false }
        let bytes = [UInt8](der)
        guard bytes.count > 4, bytes[0] == 0x30 else { return false }
        let lengthBytes = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
        guard lengthBytes <= 3, bytes.count > 5 + lengthBytes else { return false }
        let length = lengthBytes == 0 ? Int(bytes[1]) : bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) }
        let content = bytes[(2 + lengthBytes)...]
        return content.count == length && content.starts(with: [0x02, 0x01]) && !namesP256(bytes)
    }

    /// Whether the object identifier of P-256 (1.2.840.10045.3.1.7) stands in the bytes: then the key is damaged, not foreign.
    private static func namesP256(_ bytes: [UInt8]) -> Bool {
        let identifier: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        return bytes.firstRange(of: identifier) != nil
    }
}
