import SQLStorage
import SQLiteDatabase
import ServerStorage
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The folder with the state of a demo.
enum DemoFolder {
    /// Marks a folder as ours, so that a typing error in `--directory` cannot remove somebody's files.
    private static let mark = "clarion-demo"

    /// The data directory of the demo's server.
    static func server(in directory: String) -> String { directory + "/server" }

    /// Creates the folder, or empties it first if that was asked for. Throws `ServiceError` for a folder of somebody else.
    static func prepare(_ options: DemoOptions) throws {
        let manager = FileManager.default
        let path = options.directory
        let contents = (try? manager.contentsOfDirectory(atPath: path)) ?? []
        guard contents.isEmpty || contents.contains(mark) else {
            throw ServiceError(.conflict, "\(path) holds files that are not of a demo; choose another --directory")
        }
        if options.startsAfresh, contents.contains(mark) {
            try remove(path)
        }
        try PrivateFile.makeFolder(path)
        guard manager.createFile(atPath: path + "/" + mark, contents: Data()) else {
            throw ServiceError(.storageUnavailable, "\(path) cannot be written")
        }
    }

    /// With the lock of its server in hand, so that no running demo loses its files.
    private static func remove(_ path: String) throws {
        let file = server(in: path) + "/clarion.sqlite"
        do {
            guard FileManager.default.fileExists(atPath: file) else { return try FileManager.default.removeItem(atPath: path) }
            try SQLiteDatabase(path: file, access: .server).close { try FileManager.default.removeItem(atPath: path) }
        } catch SQLFault.lockedByAnotherProcess {
            throw ServiceError(.conflict, "another demo runs in \(path); stop it, or choose another --directory")
        } catch {
            // A database that cannot be opened is no reason to keep it.
            guard (try? FileManager.default.removeItem(atPath: path)) != nil else {
                throw ServiceError(.storageUnavailable, "\(path) cannot be removed")
            }
        }
    }
}
