import ContentStorage
import Foundation
import PushHub
import SQLStorage
import ServerSettings
import ServiceErrors
import SharedAccess

/// The master key of a node: from the settings, or from a file in the data directory that the first start makes.
package enum MasterKeyFile {
    package static let name = "master-key"

    /// The key for a database, whose tables are there. Makes one only where the database has nothing sealed: a new key would open none of it,
    /// and would be in the way of the right one when that is brought back. Throws `ServiceError` with a sentence for the operator.
    static func key(_ settings: Settings, for database: any SQLDatabase) async throws -> MasterKey {
        if let key = try existing(settings) { return key }
        // Another process may have made the key, and then sealed with it, after the first look.
        guard try await holdsSecrets(database) else { return try key(settings) }
        guard let key = try existing(settings) else { throw missing(settings) }
        return key
    }

    /// The key from the settings or the file; `nil` when there is none yet.
    package static func existing(_ settings: Settings) throws -> MasterKey? {
        guard let text = settings.masterKey else { return try read(path(settings)) }
        guard let key = MasterKey(text: text.reveal()) else {
            throw ServiceError(.notReady, "master-key is not the Base64 text of 32 bytes")
        }
        return key
    }

    /// The key, which is made if there is none.
    static func key(_ settings: Settings) throws -> MasterKey {
        if let key = try existing(settings) { return key }
        let path = path(settings)
        let key = MasterKey.random()
        // Of two that start together both use the first one's.
        if try PrivateFile.create(key.text + "\n", at: path) { return key }
        guard let other = try read(path) else { throw ServiceError(.storageUnavailable, "\(path) cannot be written") }
        return other
    }

    /// Why a database with sealed secrets is refused without a key.
    package static func missing(_ settings: Settings) -> ServiceError {
        ServiceError(
            .notReady,
            """
            there is no \(name) in \(settings.dataDirectory), and the database has secrets sealed with one; bring it back from \
            the backup
            """)
    }

    /// Whether the database has anything that a master key sealed: rules for all hubs, or rules or credentials of a hub.
    package static func holdsSecrets(_ database: any SQLDatabase) async throws -> Bool {
        let store = SQLHubStore(database)
        guard try await store.rules(of: nil).isEmpty else { return true }
        var last: HubName?
        while true {
            let hubs = try await store.records(after: last, limit: 100)
            for hub in hubs {
                guard hub.sealedCredentials.isEmpty, try await store.rules(of: hub.id).isEmpty else { return true }
            }
            guard let next = hubs.last?.name else { return false }
            last = next
        }
    }

    private static func path(_ settings: Settings) -> String { settings.dataDirectory + "/" + name }

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

/// Files of the data directory that hold a secret and that the first start makes.
package enum PrivateFile {
    /// Creates a file that only its owner can read. It appears whole or not at all and never in place of another: `false` when there is
    /// one already. The bytes and the name outlast a loss of power.
    package static func create(_ text: String, at path: String) throws(ServiceError) -> Bool {
        let draft = "\(path).\(getpid())"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw fault(path) }
        defer { unlink(draft) }
        let bytes = Array(text.utf8)
        let isWritten = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten else { throw fault(path) }
        guard link(draft, path) == 0 else {
            if errno == EEXIST { return false }
            throw fault(path)
        }
        try keepName(of: path)
        return true
    }

    /// Whether only its owner can read the file; `nil` when there is none.
    static func isPrivate(_ path: String) throws(ServiceError) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw ServiceError(.notReady, "\(path) cannot be read")
        }
        return status.st_mode & 0o077 == 0
    }

    /// Creates a folder for its owner alone, with those that are missing on the way there. Their names outlast a loss of power.
    package static func makeFolder(_ path: String) throws(ServiceError) {
        var (missing, next) = ([String](), path)
        while access(next, F_OK) != 0, errno == ENOENT {
            missing.append(next)
            next = DurableFolder.parent(of: next)
        }
        for folder in missing.reversed() {
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw folderFault(path, errno) }
            try keepName(of: folder)
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw folderFault(path, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw folderFault(path, ENOTDIR) }
    }

    private static func folderFault(_ path: String, _ number: Int32) -> ServiceError {
        let reason = SystemErrorText.text(number)
        return ServiceError(.storageUnavailable, "the directory \(path) cannot be created or is not a directory: \(reason)")
    }

    /// Waits until the name of a file or folder is on the disk. A folder above that this user may not open is passed over.
    static func keepName(of path: String) throws(ServiceError) {
        let directory = open(DurableFolder.parent(of: path), O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw fault(path) }
    }

    private static func fault(_ path: String) -> ServiceError {
        ServiceError(.storageUnavailable, "\(path) cannot be written: \(SystemErrorText.text(errno))")
    }
}

/// The room on a disk.
package enum DiskSpace {
    /// What this user may still write to the disk of a path, in bytes; `nil` when the system does not say.
    package static func free(at path: String) -> Int64? {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return nil }
        return Int64(clamping: UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize)).partialValue)
    }
}
