import APNsHTTP2
import APNsProtocol
import HTTPService

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What the settings need to know of the machine: files, and whether a text is a signing key, a list of certificates, or the two texts of
/// an HTTPS interface.
public struct SettingsEnvironment: Sendable {
    /// Reads a small text file; the error's description is shown to the operator.
    public var readText: @Sendable (_ path: String) throws -> String
    /// Whether a file is there and may be read.
    public var isReadable: @Sendable (_ path: String) -> Bool
    /// What is wrong with a signing key, as a sentence that shows nothing of it; `nil` when it is fit for use.
    public var checkAPNsKey: @Sendable (SecretText) -> String?
    /// What is wrong with the text of `apns-trust-roots-path`; `nil` when it is fit for use.
    public var checkTrustRoots: @Sendable (String) -> String? = { _ in nil }
    /// What is wrong with the certificate chain and the key of the HTTPS interface; `nil` when they are fit for use.
    public var checkCertificate: @Sendable (_ chainPEM: String, _ keyPEM: String) -> String? = { _, _ in nil }
}

extension SettingsEnvironment {
    /// The machine, with the checks that the signing key is one, that the trust roots are certificates, and that the HTTPS interface can
    /// use its certificate and key.
    public static var server: SettingsEnvironment {
        SettingsEnvironment(
            readText: readSmallFile, isReadable: { FileManager.default.isReadableFile(atPath: $0) },
            checkAPNsKey: sentence(aboutKey:),
            checkTrustRoots: { APNsClientConfiguration.Trust.isFit(pem: $0) ? nil : "the file holds no PEM certificates" },
            checkCertificate: sentence(aboutChain:key:))
    }

    /// The text of a file. A file of more than a megabyte is refused: nothing that is a setting is that large.
    @Sendable private static func readSmallFile(_ path: String) throws -> String {
        if let fault = NamedFileFault(opening: path) { throw fault }
        guard let data = FileManager.default.contents(atPath: path) else { throw NamedFileFault.noFile }
        guard data.count <= 1_000_000 else { throw NamedFileFault.tooLarge }
        guard let text = String(validating: data, as: UTF8.self) else { throw NamedFileFault.notText }
        return text
    }

    /// What is wrong with a certificate and its key, as the server itself reads them, or `nil`. Nothing of the key is quoted.
    @Sendable private static func sentence(aboutChain chainPEM: String, key keyPEM: String) -> String? {
        do throws(ServerIdentity.Fault) {
            _ = try ServerIdentity(chainPEM: chainPEM, keyPEM: keyPEM)
            return nil
        } catch {
            return error.description
        }
    }

    /// What is wrong with a `.p8`, or `nil`. Nothing of the key is quoted.
    @Sendable private static func sentence(aboutKey key: SecretText) -> String? {
        do {
            // The ids are settings of their own; here only the key is checked.
            _ = try ProviderTokenKey(pem: key.reveal(), keyID: "KEYKEYKEY0", teamID: "TEAMTEAM00")
            return nil
        } catch {
            return error.description
        }
    }
}

/// Why a file that a setting or an argument names cannot be used, as the end of the sentence "PATH cannot be read: ".
package enum NamedFileFault: String, Error, CustomStringConvertible {
    case missing = "there is no such file"
    case notAllowed = "this user may not read it"
    case folder = "it is a folder"
    case noFile = "it is no file"
    case tooLarge = "it is larger than a megabyte"
    case notText = "it is not UTF-8 text"

    package var description: String { rawValue }

    /// Why the file cannot be opened; `nil` when it can. Only an attempt shows it: a folder of the path may be inaccessible as well.
    package init?(opening path: String) {
        // Without waiting, or a named pipe would hold the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            self.init(errorNumber: errno)
            return
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        self = .folder
    }

    /// The fault behind an error number of `open`.
    init(errorNumber: Int32) {
        switch errorNumber {
        case ENOENT, ENOTDIR: self = .missing
        case EACCES, EPERM: self = .notAllowed
        default: self = .noFile
        }
    }
}
