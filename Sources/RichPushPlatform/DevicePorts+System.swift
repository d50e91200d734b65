#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel

    extension DevicePorts {
        /// The system's services for the app or for its service extension, which gives up a request after 20 seconds
        /// (Reference/IOSClient.md#6).
        ///
        /// Throws when neither the group's folder nor, in the app, its own can be used.
        package static func system(
            _ configuration: RichPushConfiguration, isForApp: Bool, log: any EventLog,
            protect: ([URL]) -> Void = { SharedFolder.protect($0) }
        ) throws(StorageError) -> DevicePorts {
            guard let folder = SharedFolder.inGroup(configuration.appGroup) ?? (isForApp ? SharedFolder.ofApp() : nil) else {
                throw .failed
            }
            let parts = ["records", "content"].map { folder.appendingPathComponent($0, isDirectory: true) }
            let store = try FileSharedStore(folder: parts[0])
            let cache = try FileContentCache(folder: parts[1])
            protect([folder] + parts)
            SharedFolder.excludeFromBackup(folder)
            return DevicePorts(
                transport: URLSessionTransport(resourceTimeout: isForApp ? .seconds(60) : .seconds(20)),
                secrets: secrets(configuration, isForApp: isForApp), store: store, cache: cache, clock: SystemClock(),
                identifiers: SystemIdentifierSource(), log: log, power: SystemPower())
        }

        /// The key chain of a configuration.
        package static func secrets(_ configuration: RichPushConfiguration, isForApp: Bool) -> KeychainSecretStore {
            KeychainSecretStore(
                service: "richpush " + configuration.backend.absoluteString, sharedGroup: configuration.appGroup,
                isForApp: isForApp)
        }
    }
#endif
