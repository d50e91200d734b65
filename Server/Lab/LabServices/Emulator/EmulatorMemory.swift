import APNsEmulation
import Logging
import RichPushModel
import ServiceErrors
import ServiceLifecycle

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keeps what a local APNs knows in a file, so that after a restart the device tokens that clients hold are still good.
///
/// The file follows a change within a second and is written once more at the end; what a killed process learned in its last second
/// is lost.
struct EmulatorMemory: Service {
    private static let pace: Duration = .seconds(1)

    let apns: LocalAPNs
    let path: String
    private let clock: any ServiceClock
    private let logger: Logger

    /// Takes in what the file holds, if there is one; before the local APNs starts. Throws `ServiceError` that says how to go on.
    init(of apns: LocalAPNs, at path: String, clock: any ServiceClock, logger: Logger) throws {
        self.apns = apns
        self.path = path
        self.clock = clock
        self.logger = logger
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try apns.restore(JSONDecoder().decode(KeptState.self, from: Data(contentsOf: URL(filePath: path))))
        } catch {
            let cause = (error as? LocalAPNsError)?.description ?? "It is damaged."
            throw ServiceError(
                .notReady, "\(path) cannot be used. \(cause) Remove it to begin without tokens, apps and channels.")
        }
    }

    /// Runs until graceful shutdown. A file that cannot be written is told once and tried again.
    func run() async throws {
        let first = apns.keptRevision
        let written = await cancelWhenGracefulShutdown { await follow(from: first) }
        if apns.keptRevision != written { save() }
    }

    /// Writes after each change until it is cancelled; returns the revision that was written last.
    private func follow(from first: Int) async -> Int {
        var written = first
        var isTold = false
        while (try? await clock.sleep(for: Self.pace)) != nil {
            let revision = apns.keptRevision
            guard revision != written else { continue }
            if save() {
                (written, isTold) = (revision, false)
            } else if !isTold {
                isTold = true
                logger.warning("What the local APNs knows cannot be written", metadata: ["path": "\(path)"])
            }
        }
        return written
    }

    /// Replaces the file whole; whether it could.
    @discardableResult
    func save() -> Bool {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            try encoder.encode(apns.keptState).write(to: URL(filePath: path), options: .atomic)
            // Device tokens are nobody else's business.
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            return true
        } catch {
            return false
        }
    }
}
