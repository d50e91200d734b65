#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel

    extension DevicePorts {
        /// The system's services for the app or for its service extension.
        ///
        /// Throws when neither the group's folder nor, in the app, its own can be used.
        package static func system(
            _ configuration: RichPushConfiguration, isForApp: Bool, log: any EventLog
        ) throws(StorageError) -> DevicePorts {
            guard let folder = SharedFolder.inGroup(configuration.appGroup) ?? (isForApp ? SharedFolder.ofApp() : nil) else {
                throw .failed
            }
            let store = try FileSharedStore(folder: folder.appendingPathComponent("records", isDirectory: true))
            let cache = try FileContentCache(folder: folder.appendingPathComponent("content", isDirectory: true))
            SharedFolder.excludeFromBackup(folder)
            return DevicePorts(
                transport: URLSessionTransport(), secrets: secrets(configuration, isForApp: isForApp), store: store,
                cache: cache, clock: SystemClock(), identifiers: SystemIdentifierSource(), log: log)
        }

        /// The key chain of a configuration.
        package static func secrets(_ configuration: RichPushConfiguration, isForApp: Bool) -> KeychainSecretStore {
            KeychainSecretStore(
                service: "richpush " + configuration.backend.absoluteString, sharedGroup: configuration.appGroup,
                isForApp: isForApp)
        }
    }
#endif
