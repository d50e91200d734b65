import AppBackend
import Logging
import RichPushModel
import ServerSettings
import ServiceErrors

/// Stores the picture of a send without a body at the start, or as soon as a content store that is away comes back.
struct DefaultPictureKeeper: Sendable {
    private static let pause: Duration = .seconds(5)

    let bytes: [UInt8]
    let fileName: String
    let backend: RichPushBackend
    let clock: any ServiceClock
    let logger: Logger

    /// Throws when the operator's picture cannot be read.
    init(_ settings: Settings, backend: RichPushBackend, clock: any ServiceClock, logger: Logger) throws {
        (bytes, fileName) = try DefaultPictureSource.read(settings)
        self.backend = backend
        self.clock = clock
        self.logger = logger
    }

    /// Stores it; whether that could be done. Throws for anything but a store that is away.
    func store() async throws -> Bool {
        do {
            try await backend.setDefaultPicture(bytes, fileName: fileName)
            return true
        } catch let error as ServiceError where [.storageUnavailable, .overloaded].contains(error.code) {
            return false
        }
    }

    /// Tries until it is stored or the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                if try await store() { return logger.notice("The default picture is stored") }
            } catch is CancellationError { return } catch {
                logger.warning("The default picture cannot be stored", metadata: ["error_type": "\(type(of: error))"])
            }
            do { try await clock.sleep(for: Self.pause) } catch { return }
        }
    }
}
