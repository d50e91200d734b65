import HTTPService
import Logging
import RichPushModel
import ServerSettings
import ServiceErrors
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The certificate of the HTTPS interface, from the files of the settings or from the node's own development authority, and its renewal
/// while the node runs.
final class FrontDoorIdentity: Sendable {
    /// How often the files are looked at.
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
