import ServerSettings
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The master key of a node: from the settings, or from a file in the data directory that the first start makes.
package enum MasterKeyFile {
    package static let name = "master-key"

    /// The key. Throws `ServiceError` with a sentence for the operator.
    package static func key(_ settings: Settings) throws -> MasterKey {
        if let text = settings.masterKey {
            guard let key = MasterKey(text: text.reveal()) else {
                throw ServiceError(.notReady, "master-key is not the Base64 text of 32 bytes")
            }
            return key
        }
        let path = settings.dataDirectory + "/" + name
        if let key = try read(path) { return key }
        let key = MasterKey.random()
        // Of two that start together both use the first one's.
        if try PrivateFile.create(key.text + "\n", at: path) { return key }
        guard let other = try read(path) else { throw ServiceError(.storageUnavailable, "\(path) cannot be written") }
        return other
    }

    /// `nil` when there is no such file.
    private static func read(_ path: String) throws -> MasterKey? {
        guard let isPrivate = try PrivateFile.isPrivate(path) else { return nil }
        guard isPrivate else {
            throw ServiceError(.notReady, "\(path) can be read by others; chmod 600 it, or set master-key")
        }
        guard let data = FileManager.default.contents(atPath: path), let text = String(validating: data, as: UTF8.self) else {
            throw ServiceError(.notReady, "\(path) cannot be read")
        }
        guard let key = MasterKey(text: text) else {
            throw ServiceError(
                .notReady, "\(path) is not the Base64 text of 32 bytes; bring back the file that belongs to this database")
        }
        return key
    }
}
