#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import Security

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
#endif
