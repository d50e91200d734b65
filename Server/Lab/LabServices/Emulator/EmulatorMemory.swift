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

/// A local service that another run goes on with.
public protocol KeptService: Sendable {
    associatedtype State: Codable
    /// Grows with every change of `keptState`.
    var keptRevision: Int { get }
    var keptState: State { get }

    /// Takes in the state of an earlier run, before the service starts. Throws an error that describes itself.
    func restore(_ kept: State) throws
}

extension LocalAPNs: KeptService {}

/// Keeps what a local service knows in a file, so that after a restart the device tokens and endpoints that clients hold are still good.
///
/// The file follows a change within a second and is written once more at the end; what a killed process learned in its last second
/// is lost.
public struct EmulatorMemory<Kept: KeptService>: Service {
    private static var pace: Duration { .seconds(1) }

    let service: Kept
    let path: String
    private let clock: any ServiceClock
    private let logger: Logger

    /// Takes in what the file holds, if there is one; before the service starts. Throws `ServiceError` that says how to go on.
    public init(of service: Kept, at path: String, clock: any ServiceClock, logger: Logger) throws {
        self.service = service
        self.path = path
        self.clock = clock
        self.logger = logger
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try service.restore(JSONDecoder().decode(Kept.State.self, from: Data(contentsOf: URL(filePath: path))))
        } catch {
            let cause = error is DecodingError ? "It is damaged." : "\(error)"
            throw ServiceError(
                .notReady, "\(path) cannot be used. \(cause) Remove it to begin without what it holds.")
        }
    }

    /// Runs until graceful shutdown. A failed write is logged once and tried again.
    public func run() async throws {
        let first = service.keptRevision
        let written = await cancelWhenGracefulShutdown { await follow(from: first) }
        if service.keptRevision != written { save() }
    }

    /// Writes after each change until it is cancelled; returns the revision that was written last.
    private func follow(from first: Int) async -> Int {
        var written = first
        var isFailureLogged = false
        while (try? await clock.sleep(for: Self.pace)) != nil {
            let revision = service.keptRevision
            guard revision != written else { continue }
            if save() {
                (written, isFailureLogged) = (revision, false)
            } else if !isFailureLogged {
                isFailureLogged = true
                logger.warning("The state of a local service cannot be written", metadata: ["path": "\(path)"])
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
            try encoder.encode(service.keptState).write(to: URL(filePath: path), options: .atomic)
            // Device tokens and endpoints are private to the user of this process.
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            return true
        } catch {
            return false
        }
    }
}
