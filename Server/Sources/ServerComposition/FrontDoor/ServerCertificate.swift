import HTTPService
import LocalCertificates
import Logging
import RichPushModel
import ServerSettings
import ServerStorage
import ServiceErrors
import Synchronization

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

/// The certificate of the HTTPS interface, from the files of the settings or from the node's own development authority, and its renewal
/// while the node runs.
final class ServerCertificate: Sendable {
    /// How often the files are checked.
    static let interval = Duration.seconds(10)
    /// After which a certificate of the development authority is replaced; long before it ends.
    static let renewal = Duration.seconds(30 * 86_400)

    private struct State {
        var stamps: [FileStamp?] = []
        var issuedAt: Timestamp
    }

    let identity: ServerIdentity
    /// What clients have to trust; absent when the certificate is from elsewhere.
    let authorityPath: String?
    private let files: Settings.TLS.Files?
    private let folder: DevelopmentAuthorityFolder?
    private let names: [String]
    private let clock: any ServiceClock
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads or makes the certificate. Throws `ServiceError` with a sentence for the operator.
    init(_ settings: Settings, _ tls: Settings.TLS, clock: any ServiceClock, logger: Logger) throws {
        files = tls.files
        folder = try tls.files == nil ? DevelopmentAuthorityFolder(dataDirectory: settings.dataDirectory, now: clock.now) : nil
        names = DevelopmentAuthorityFolder.names(tls)
        authorityPath = folder?.authorityPath
        self.clock = clock
        self.logger = logger
        state = Mutex(State(stamps: Self.stamps(tls.files), issuedAt: clock.now))
        let pair = try Self.pair(files, folder, names, clock)
        identity = try Self.explained(files) { () throws(ServerIdentity.Fault) in
            try ServerIdentity(chainPEM: pair.chainPEM, keyPEM: pair.keyPEM)
        }
    }

    /// Looks at the files, and at the age of what was issued, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            if isDue() { reload() }
        }
    }

    /// Takes what the files hold now. What is unfit is logged, and the certificate before it stays.
    func reload() {
        let stamps = Self.stamps(files)
        do {
            let pair = try Self.pair(files, folder, names, clock)
            try Self.explained(files) { () throws(ServerIdentity.Fault) in
                try identity.replace(chainPEM: pair.chainPEM, keyPEM: pair.keyPEM)
            }
            logger.notice("The certificate of the HTTPS interface was replaced")
        } catch {
            logger.error(
                "The certificate of the HTTPS interface cannot be replaced",
                metadata: ["error_detail": "\((error as? ServiceError)?.description ?? "\(type(of: error))")"])
        }
        state.withLock { $0 = State(stamps: stamps, issuedAt: clock.now) }
    }

    private func isDue() -> Bool {
        let stamps = Self.stamps(files)
        return state.withLock { state in
            files == nil ? clock.now - state.issuedAt >= Self.renewal : state.stamps != stamps
        }
    }

    private static func pair(
        _ files: Settings.TLS.Files?, _ folder: DevelopmentAuthorityFolder?, _ names: [String], _ clock: any ServiceClock
    ) throws -> (chainPEM: String, keyPEM: String) {
        if let folder {
            let issued = try folder.authority.issueServerCertificate(names: names, subject: "Clarion", now: clock.now)
            return (issued.certificatePEM, issued.privateKeyPEM)
        }
        guard let files else { throw ServiceError(.internal, "no certificate is configured") }
        return (try text(files.certificatePath, "tls-certificate-path"), try text(files.keyPath, "tls-key-path"))
    }

    private static func text(_ path: String, _ setting: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path), let text = String(validating: data, as: UTF8.self) else {
            throw ServiceError(.notReady, "\(setting): \(path) cannot be read")
        }
        return text
    }

    private static func explained<Value>(
        _ files: Settings.TLS.Files?, _ work: () throws(ServerIdentity.Fault) -> Value
    ) throws(ServiceError) -> Value {
        do throws(ServerIdentity.Fault) {
            return try work()
        } catch {
            throw ServiceError(.notReady, "tls-certificate-path and tls-key-path: \(error)")
        }
    }

    private static func stamps(_ files: Settings.TLS.Files?) -> [FileStamp?] {
        guard let files else { return [] }
        return [files.certificatePath, files.keyPath].map(FileStamp.init(path:))
    }
}

/// Where a node keeps its development authority, so that clients can speak TLS to it before there is a certificate of a real one:
/// `tls` in the data directory, made at the first start.
struct DevelopmentAuthorityFolder: Sendable {
    let authority: LocalCertificateAuthority
    /// The certificate that clients have to trust.
    let authorityPath: String

    /// Reads the folder, or fills it. Throws `ServiceError` with a sentence for the operator.
    init(dataDirectory: String, now: Timestamp) throws {
        let folder = dataDirectory + "/tls"
        try PrivateFile.makeFolder(folder)
        authorityPath = folder + "/authority.pem"
        let keyPath = folder + "/authority-key.pem"
        // The key comes first: a certificate without its key would be installed by users and sign nothing.
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
        // The certificate is public.
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

/// Identifies a version of a file without reading it.
private struct FileStamp: Hashable, Sendable {
    private let file: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// `nil` when there is no such file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let changed = status.st_mtimespec
        #else
            let changed = status.st_mtim
        #endif
        file = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = Int64(changed.tv_sec)
        nanoseconds = Int64(changed.tv_nsec)
    }
}
