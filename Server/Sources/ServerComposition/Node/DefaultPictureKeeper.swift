import AppBackend
import Logging
import RichPushModel
import ServerSettings
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Stores the picture of a send without a body at the start, or as soon as an unreachable content store answers again.
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

    /// Stores it and returns whether it is stored. Throws for any error but an unreachable store.
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

/// Where the picture of a send without a body comes from.
package enum DefaultPictureSource {
    /// The built-in picture, a PNG.
    package static var builtIn: [UInt8] { PackageResources.default_picture_png }

    /// The bytes of the operator's picture, or of the built-in one. Throws when the operator's cannot be read.
    static func read(_ settings: Settings) throws -> (bytes: [UInt8], fileName: String) {
        guard let path = settings.notifications.defaultPicturePath else {
            return (builtIn, "picture.png")
        }
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw ServiceError(.notReady, "default-picture-path: \(path) cannot be read")
        }
        return (Array(data), URL(filePath: path).lastPathComponent)
    }
}
