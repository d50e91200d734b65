#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// File operations with the errors of `StorageError`.
enum FileAccess {
    /// Reads a file; `nil` when there is none.
    static func read(_ file: URL) throws(StorageError) -> Data? {
        do {
            return try Data(contentsOf: file)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return nil
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
            throw .locked
        } catch {
            throw .failed
        }
    }

    /// Writes a file whole or not at all. `folder` is what must exist for the write to be allowed.
    static func write(_ data: Data, to file: URL, whileExists folder: URL) throws(StorageError) {
        do {
            // Readable on a locked phone, after its first unlock: the service extension runs there (Reference/IOSClient.md#5).
            try data.write(to: file, options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
        } catch {
            throw exists(folder) ? .failed : .sessionEnded
        }
    }

    static func remove(_ file: URL) throws(StorageError) {
        do {
            try FileManager.default.removeItem(at: file)
        } catch {
            if exists(file) { throw .failed }
        }
    }

    /// Makes a folder that its owner alone reads: on other systems than a phone there are other users.
    static func makeFolder(_ folder: URL) throws(StorageError) {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true,
                attributes: [
                    .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication, .posixPermissions: 0o700,
                ])
        } catch {
            throw .failed
        }
    }

    static func exists(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The files in a folder; none when there is no folder.
    static func files(in folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.map { folder.appendingPathComponent($0) }
    }

    /// Removes a folder so that it is gone at one moment: a process that still writes finds no folder.
    static func removeAtOnce(_ folder: URL) throws(StorageError) {
        guard exists(folder) else { return }
        let doomed = folder.deletingLastPathComponent().appendingPathComponent("removed-" + UUID().uuidString)
        do {
            try FileManager.default.moveItem(at: folder, to: doomed)
        } catch {
            throw .failed
        }
        try remove(doomed)
    }

    /// Finishes removals that a crash interrupted.
    static func removeLeftovers(in folder: URL) throws(StorageError) {
        for file in files(in: folder) where file.lastPathComponent.hasPrefix("removed-") { try remove(file) }
    }
}
