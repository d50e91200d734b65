import ServerSettings
import ServerStorage
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The VAPID key of a demo: made at the first start and kept, because browsers subscribe with it.
enum DemoWebPushKey {
    private static let name = "web-push-key"

    /// Reads the key from the folder of the demo, or makes it there. Throws `ServiceError`.
    static func kept(in directory: String) throws -> String {
        try PrivateFile.makeFolder(directory)
        let path = directory + "/" + name
        if let key = try read(path) { return key }
        let key = Settings.WebPush.newKey()
        guard try PrivateFile.create(key + "\n", at: path) else {
            throw ServiceError(.notReady, "\(path) cannot be read; remove it to get a new key")
        }
        return key
    }

    /// `nil` when there is no such file, or none that can be read.
    private static func read(_ path: String) throws(ServiceError) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let key = String(text.prefix { !$0.isWhitespace })
        guard Settings.WebPush.isKey(key) else {
            throw ServiceError(.notReady, "\(path) is not a VAPID key; remove it to get a new one")
        }
        return key
    }
}
