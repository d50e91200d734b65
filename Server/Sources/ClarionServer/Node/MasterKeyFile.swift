#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import ServiceErrors
import SharedAccess

/// The master key of a node: from the settings, or from a file in the data directory that the first start makes.
enum MasterKeyFile {
    static let name = "master-key"

    /// The key. Throws `ServiceError` with a sentence for the operator.
    static func key(_ settings: Settings) throws -> MasterKey {
        if let text = settings.masterKey {
            guard let key = MasterKey(text: text.reveal()) else {
                throw ServiceError(.notReady, "master-key is not the Base64 text of 32 bytes")
            }
            return key
        }
        let path = settings.dataDirectory + "/" + name
        return try read(path) ?? make(path)
    }

    /// `nil` when there is no such file.
    private static func read(_ path: String) throws -> MasterKey? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw ServiceError(.notReady, "\(path) cannot be looked at")
        }
        guard status.st_mode & 0o077 == 0 else {
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

    /// The file appears whole or not at all, and never in place of another: of two that start together both use the first one's.
    private static func make(_ path: String) throws -> MasterKey {
        let key = MasterKey.random()
        let draft = "\(path).\(getpid())"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ServiceError(.storageUnavailable, "\(path) cannot be written") }
        defer { unlink(draft) }
        let bytes = Array((key.text + "\n").utf8)
        let isWritten = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten else { throw ServiceError(.storageUnavailable, "\(path) cannot be written") }
        if link(draft, path) == 0 {
            try keepName(of: path)
            return key
        }
        guard errno == EEXIST, let other = try read(path) else {
            throw ServiceError(.storageUnavailable, "\(path) cannot be written")
        }
        return other
    }

    /// Makes the name in the directory as durable as the bytes: what is sealed from now on can be read with this key only.
    private static func keepName(of path: String) throws {
        let directory = open(String(path.dropLast(name.utf8.count)), O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw ServiceError(.storageUnavailable, "\(path) cannot be kept") }
    }
}
