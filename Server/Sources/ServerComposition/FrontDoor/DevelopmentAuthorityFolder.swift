import LocalCertificates
import RichPushModel
import ServerSettings
import ServerStorage
import ServiceErrors

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where a node keeps its development authority, so that clients can speak TLS to it before there is a certificate of a real one:
/// `tls` in the data directory, made at the first start.
struct DevelopmentAuthorityFolder: Sendable {
    let authority: LocalCertificateAuthority
    /// What clients are told to trust.
    let authorityPath: String

    /// Reads the folder, or fills it. Throws `ServiceError` with a sentence for the operator.
    init(dataDirectory: String, now: Timestamp) throws {
        let folder = dataDirectory + "/tls"
        try PrivateFile.makeFolder(folder)
        authorityPath = folder + "/authority.pem"
        let keyPath = folder + "/authority-key.pem"
        // The key comes first: a certificate without one would be shown to people and sign nothing.
        let keyPEM = try Self.text(at: keyPath)
        let certificatePEM = try Self.text(at: authorityPath)
        if let keyPEM, let certificatePEM {
            guard let kept = try? LocalCertificateAuthority.load(certificatePEM: certificatePEM, privateKeyPEM: keyPEM) else {
                throw ServiceError(
                    .notReady,
                    "\(authorityPath) and \(keyPath) are no authority; remove both to get a new one, which clients then have to trust"
                )
            }
            authority = kept
            return
        }
        guard certificatePEM == nil, keyPEM == nil else {
            throw ServiceError(
                .notReady, "of \(authorityPath) and \(keyPath) one is missing; remove the other to get a new authority")
        }
        let made = try LocalCertificateAuthority.create(named: "Clarion development authority", now: now)
        guard try PrivateFile.create(made.privateKeyPEM + "\n", at: keyPath),
            try PrivateFile.create(made.certificatePEM + "\n", at: authorityPath)
        else { throw ServiceError(.notReady, "another process is making \(authorityPath); start again") }
        // The certificate is for everybody.
        chmod(authorityPath, 0o644)
        authority = made
    }

    private static func text(at path: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let data = FileManager.default.contents(atPath: path), let text = String(validating: data, as: UTF8.self) else {
            throw ServiceError(.notReady, "\(path) cannot be read")
        }
        return text
    }

    /// The names of this machine, and those that the settings add.
    static func names(_ tls: Settings.TLS) -> [String] {
        var buffer = [CChar](repeating: 0, count: 256)
        let own =
            gethostname(&buffer, buffer.count - 1) == 0
            ? String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
        let isName = !own.isEmpty && own.utf8.count <= 253 && own.utf8.allSatisfy(Self.isNameByte)
        let isWildcard = ["0.0.0.0", "::"].contains(tls.address.host)
        var names: [String] = []
        for name in ["localhost", "127.0.0.1", "::1"] + (isName ? [own] : []) + (isWildcard ? [] : [tls.address.host]) + tls.names
        where !names.contains(name) {
            names.append(name)
        }
        return names
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
    }
}
