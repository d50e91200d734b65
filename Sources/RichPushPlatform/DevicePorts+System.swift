#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import Security

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
            let parts = ["records", SharedFolder.content].map { folder.appendingPathComponent($0, isDirectory: true) }
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

    /// Secrets in the key chain: readable after the first unlock, on this device only, so that the service extension works on a
    /// locked phone and no backup carries them (Reference/IOSClient.md#5).
    ///
    /// What the extension reads lies in the App Group, which is an access group of the key chain too. What is for the app alone
    /// lies in the app's own group, which the extension is not a member of.
    package struct KeychainSecretStore: SecretStore {
        private let service: String
        private let sharedGroup: String?
        private let isForApp: Bool

        /// - Parameters:
        ///   - service: names the items of one backend, so that two configurations of one app do not mix.
        ///   - sharedGroup: the App Group; without one everything lies in the process's own group.
        ///   - isForApp: whether this is the app and not its extension.
        package init(service: String, sharedGroup: String?, isForApp: Bool) {
            self.service = service
            self.sharedGroup = sharedGroup
            self.isForApp = isForApp
        }

        package func secret(_ key: SecretKey) throws(StorageError) -> String? {
            guard isForApp || !key.isForAppOnly else { return nil }
            var query = item(key)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            try Self.check(status)
            guard let data = found as? NSData else { throw .failed }
            return String(decoding: Data(referencing: data), as: UTF8.self)
        }

        package func setSecret(_ secret: String, for key: SecretKey) throws(StorageError) {
            let attributes: [String: Any] = [
                kSecValueData as String: NSData(data: Data(secret.utf8)),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            let status = SecItemUpdate(item(key) as CFDictionary, attributes as CFDictionary)
            guard status == errSecItemNotFound else { return try Self.check(status) }
            try Self.check(SecItemAdd(item(key).merging(attributes) { $1 } as CFDictionary, nil))
        }

        package func removeSecret(_ key: SecretKey) throws(StorageError) {
            let status = SecItemDelete(item(key) as CFDictionary)
            if status != errSecItemNotFound { try Self.check(status) }
        }

        /// Whether this process may use the shared group at all; a locked device does not count as a refusal.
        package var isGroupRefused: Bool {
            SecItemCopyMatching(item(.credential) as CFDictionary, nil) == errSecMissingEntitlement
        }

        private func item(_ key: SecretKey) -> [String: Any] {
            var item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: service,
                kSecAttrAccount as String: key.rawValue,
            ]
            if let sharedGroup, !key.isForAppOnly { item[kSecAttrAccessGroup as String] = sharedGroup }
            return item
        }

        private static func check(_ status: OSStatus) throws(StorageError) {
            switch status {
            case errSecSuccess: return
            case errSecInteractionNotAllowed: throw .locked
            default: throw .failed
            }
        }
    }

    /// Where records and content lie.
    package enum SharedFolder {
        /// The name of the folder with what was downloaded.
        package static let content = "content"

        /// The folder in the App Group; `nil` when this process has no such group, which is a mistake in its entitlements.
        package static func inGroup(_ group: String?) -> URL? {
            group.flatMap { FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0) }
                .map { $0.appendingPathComponent("RichPush", isDirectory: true) }
        }

        /// The app's own folder, which its extension cannot see: without a group the app alone still works.
        package static func ofApp() -> URL? {
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
                .map { $0.appendingPathComponent("RichPush", isDirectory: true) }
        }

        /// Makes folders readable on a locked phone from its first unlock on, whatever class the app has chosen for its files:
        /// the service extension needs them then (Reference/IOSClient.md#5). What is made in a folder takes its class.
        package static func protect(
            _ folders: [URL],
            with set: ([FileAttributeKey: Any], String) throws -> Void = {
                try FileManager.default.setAttributes($0, ofItemAtPath: $1)
            }
        ) {
            let attributes = [FileAttributeKey.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication]
            for folder in folders { try? set(attributes, folder.path) }
        }

        /// Keeps a folder out of backups: what is in it can be fetched again, and its secrets stay behind in any case.
        static func excludeFromBackup(_ folder: URL) {
            var folder = folder
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? folder.setResourceValues(values)
        }
    }

    /// Low Power Mode, as app and extensions see it.
    package struct SystemPower: PowerState {
        package init() {}

        package func isSavingPower() async -> Bool { ProcessInfo.processInfo.isLowPowerModeEnabled }
    }

    extension Data {
        /// The bytes of a token as the server reads them: two digits in lower case for each.
        package var hexadecimal: String { map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() }
    }
#endif
