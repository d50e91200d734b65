import SQLStorage
import SQLiteDatabase
import ServerStorage
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The database file and its copies.
extension DatabaseAdministration {
    /// Copies the database file as it is at one moment into a new file, while the server goes on. For PostgreSQL its own tools do that.
    ///
    /// Throws `ServiceError` with a sentence for the operator.
    public func backUp(to path: String) async throws {
        guard settings.database == nil else {
            throw ServiceError(.notReady, "the database is PostgreSQL; back it up with pg_dump")
        }
        let source = try databaseFile()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // The dot is in a folder and not in a file.
        guard FileManager.default.fileExists(atPath: folder + "/.") else {
            throw ServiceError(.notFound, "there is no folder \(folder) for the backup")
        }
        try await NodeDatabase.explained(settings) {
            // Whatever else it is, it would be a copy that nobody can restore, and opening it to copy it would make it another file.
            guard try await DatabaseFileCheck.isOurs(source) else {
                throw ServiceError(.notReady, "\(source) is empty or no database of clarion")
            }
            let database = try SQLiteDatabase(path: source, access: .command)
            defer { try? database.close() }
            try await database.backUp(to: path)
        }
    }

    /// Looks for damage in the database file, or in another one: a backup. A server may be using it.
    ///
    /// Returns the file that was read. Throws `ServiceError` with what is wrong.
    public func check(_ path: String?) async throws -> String {
        guard path != nil || settings.database == nil else {
            throw ServiceError(.notReady, "the database is PostgreSQL; pg_amcheck looks for damage there")
        }
        let file = try path ?? databaseFile()
        var status = stat()
        guard stat(file, &status) == 0 else { throw ServiceError(.notFound, "there is no '\(file)' that can be read") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ServiceError(.invalidField, "\(file) is no file") }
        let defects: [String]
        do {
            defects = try await DatabaseFileCheck.defects(of: file)
        } catch SQLFault.damaged(let reason) {
            defects = ["\(reason): the engine finds no way through it, or it is no database"]
        } catch SQLFault.unavailable(let reason), SQLFault.refused(_, let reason) {
            throw ServiceError(.storageUnavailable, "\(file) cannot be read: \(reason)")
        }
        guard !defects.isEmpty else { return file }
        let list = defects.map { "\n  \($0)" }.joined()
        let mend =
            path == nil
            ? "restore a backup, see Backup and restoration in Documentation/Operations.md" : "it is no good as a backup"
        throw ServiceError(.storageUnavailable, "\(file) is damaged or is no database of clarion; \(mend):\(list)")
    }

    /// The path of the database file. Throws `notFound` when there is none.
    func databaseFile() throws(ServiceError) -> String {
        let file = settings.dataDirectory + "/clarion.sqlite"
        guard FileManager.default.fileExists(atPath: file) else { throw ServiceError(.notFound, "there is no \(file)") }
        return file
    }
}
