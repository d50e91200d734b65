#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice

    /// Where records and content lie.
    package enum SharedFolder {
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
#endif
