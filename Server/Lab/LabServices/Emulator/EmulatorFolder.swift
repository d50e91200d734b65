import APNsEmulation
import Crypto
import LocalCertificates
import RichPushModel
import ServerStorage
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a local APNs keeps between runs: its certificate authority and one signing key for clients, made at the first start.
struct EmulatorFolder: Sendable {
    /// Ids with the shape of Apple's, for the one key and the one team of the folder.
    static let teamID = "LOCALTEAM0"
    static let keyID = "LOCALKEY00"

    let authority: LocalCertificateAuthority
    /// The private key that clients sign with, PEM. Secret as any key, though it opens nothing at Apple.
    let signingKeyPEM: String
    let publicKeyPEM: String
    let authorityPath: String
    let signingKeyPath: String
    /// The serial numbers of the client certificates that were issued from here, one a line.
    let listPath: String

    private let path: String

    /// Whether a local APNs has run with this folder.
    static func isOne(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + "/authority.pem") }

    /// Where the local APNs of an environment keeps what it knows.
    func statePath(of environment: String) -> String { "\(path)/state-\(environment).json" }

    /// Reads the folder, or fills it. Throws `ServiceError` with a sentence for the operator.
    init(path: String, now: Timestamp) throws {
        try PrivateFile.makeFolder(path)
        self.path = path
        listPath = path + "/issued-certificates.txt"
        authorityPath = path + "/authority.pem"
        signingKeyPath = path + "/AuthKey_\(Self.keyID).p8"
        authority = try Self.authority(certificatePath: authorityPath, keyPath: path + "/authority-key.pem", now: now)
        signingKeyPEM = try Self.text(at: signingKeyPath) { P256.Signing.PrivateKey().pemRepresentation + "\n" }
        do {
            publicKeyPEM = try P256.Signing.PrivateKey(pemRepresentation: signingKeyPEM).publicKey.pemRepresentation
        } catch {
            throw ServiceError(.notReady, "\(signingKeyPath) is not a P-256 key; remove it to get a new one")
        }
    }

    private static func authority(certificatePath: String, keyPath: String, now: Timestamp) throws -> LocalCertificateAuthority {
        do {
            let (certificate, key) = (read(certificatePath), read(keyPath))
            if let certificate, let key { return try .load(certificatePEM: certificate, privateKeyPEM: key) }
            guard certificate == nil, key == nil else {
                // A new authority in its place would be one that no client trusts.
                throw LocalAuthorityError(cause: "its \(key == nil ? "key" : "certificate") is missing")
            }
            let authority = try LocalCertificateAuthority.create(now: now)
            try write(authority.privateKeyPEM, to: keyPath)
            // Clients of other users of this machine have to trust it.
            try write(authority.certificatePEM, to: certificatePath, permissions: 0o644)
            return authority
        } catch let error as LocalAuthorityError {
            throw ServiceError(.notReady, "\(error) Remove \(certificatePath) and \(keyPath) to get a new authority.")
        }
    }

    private static func text(at path: String, otherwise make: () -> String) throws -> String {
        if let text = read(path) { return text }
        let text = make()
        try write(text, to: path)
        return text
    }

    private static func read(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Whether a client certificate with this serial number was issued from here, however it is spelled.
    func hasIssued(serialNumber: String) -> Bool {
        (Self.read(listPath) ?? "").split(separator: "\n").contains {
            LocalAPNs.isSameSerialNumber(String($0), serialNumber)
        }
    }

    /// Writes a client certificate with its key into one PEM file and returns its serial number. Throws `ServiceError`.
    @discardableResult
    func writeClientCertificate(_ request: ClientCertificateRequest, to path: String, now: Timestamp) throws -> String {
        do {
            let issued = try authority.issueClientCertificate(request, now: now)
            try Self.write(issued.certificatePEM + "\n" + issued.privateKeyPEM + "\n", to: path)
            try Self.write((Self.read(listPath) ?? "") + issued.serialNumber + "\n", to: listPath)
            return issued.serialNumber
        } catch let error as LocalAPNsError {
            throw ServiceError(.invalidField, error.description)
        }
    }

    private static func write(_ text: String, to path: String, permissions: Int = 0o600) throws {
        let isWritten = FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: permissions])
        guard isWritten else { throw ServiceError(.storageUnavailable, "\(path) cannot be written") }
    }
}
