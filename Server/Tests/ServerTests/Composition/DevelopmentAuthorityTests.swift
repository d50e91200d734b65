import Crypto
import Foundation
import LocalCertificates
import RichPushModel
import ServiceErrors
import Testing
import X509

@testable import ServerComposition
@testable import ServerSettings

@Suite("The development authority")
struct DevelopmentAuthorityTests {
    private let now = Timestamp(seconds: 1_800_000_000)

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "clarion-authority-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test("the first start makes it, the key for its owner alone; later ones keep it")
    func kept() throws {
        try withFolder { folder in
            let first = try DevelopmentAuthorityFolder(dataDirectory: folder, now: now)
            let second = try DevelopmentAuthorityFolder(dataDirectory: folder, now: now + .seconds(86_400))
            #expect(first.authority.certificatePEM == second.authority.certificatePEM)
            let permissions = try ["authority.pem", "authority-key.pem"].map { name in
                try FileManager.default.attributesOfItem(atPath: folder + "/tls/" + name)[.posixPermissions] as? Int
            }
            #expect(permissions == [0o644, 0o600])
        }
    }

    @Test("two authorities have two subjects, and each certificate names that of its own")
    func subjects() throws {
        let authorities = try (0..<2).map { _ in
            try LocalCertificateAuthority.create(named: "Clarion development authority", now: now)
        }
        let roots = try authorities.map { try Certificate(pemEncoded: $0.certificatePEM) }
        #expect(roots[0].subject != roots[1].subject)
        for (authority, root) in zip(authorities, roots) {
            #expect(root.issuer == root.subject)
            #expect("\(root.subject)".contains("Clarion development authority "))
            let issued = try authority.issueServerCertificate(names: ["localhost"], subject: "Clarion", now: now)
            #expect(try Certificate(pemEncoded: issued.certificatePEM).issuer == root.subject)
        }
    }

    @Test("half of it, or another's key, stops the start with what to do")
    func damaged() throws {
        try withFolder { folder in
            _ = try DevelopmentAuthorityFolder(dataDirectory: folder, now: now)
            let key = folder + "/tls/authority-key.pem"
            try P256.Signing.PrivateKey().pemRepresentation.write(toFile: key, atomically: true, encoding: .utf8)
            #expect(throws: ServiceError.self) { try DevelopmentAuthorityFolder(dataDirectory: folder, now: now) }
            try FileManager.default.removeItem(atPath: key)
            #expect(throws: ServiceError.self) { try DevelopmentAuthorityFolder(dataDirectory: folder, now: now) }
            #expect(FileManager.default.fileExists(atPath: folder + "/tls/authority.pem"))
        }
    }

    @Test("a certificate is for the names and addresses that were asked for, and signed by the authority")
    func issued() throws {
        let authority = try LocalCertificateAuthority.create(named: "Clarion development authority", now: now)
        let issued = try authority.issueServerCertificate(
            names: ["localhost", "127.0.0.1", "::1", "push.example.test"], subject: "Clarion", now: now)
        let certificate = try Certificate(pemEncoded: issued.certificatePEM)
        let root = try Certificate(pemEncoded: authority.certificatePEM)
        #expect(root.publicKey.isValidSignature(certificate.signature, for: certificate))
        let names = try #require(try certificate.extensions.subjectAlternativeNames)
        #expect(names.count == 4)
        #expect(names.contains(.dnsName("push.example.test")))
        #expect(names.contains(.ipAddress(.init(contentBytes: [127, 0, 0, 1]))))
        #expect(certificate.notValidAfter.timeIntervalSince1970 == Double((now + LocalCertificateAuthority.validity).seconds))
    }

    @Test("the names of the machine and of the settings are each there once")
    func names() throws {
        var tls = Settings.TLS(address: .init(host: "127.0.0.1", port: 0), files: nil, names: ["localhost", "push.example.test"])
        let names = DevelopmentAuthorityFolder.names(tls)
        #expect(names.prefix(3) == ["localhost", "127.0.0.1", "::1"])
        #expect(names.last == "push.example.test")
        #expect(Set(names).count == names.count)
        tls.address.host = "0.0.0.0"
        #expect(!DevelopmentAuthorityFolder.names(tls).contains("0.0.0.0"))
    }
}
