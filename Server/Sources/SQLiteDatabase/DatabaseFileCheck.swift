import GRDB
import SQLStorage

/// Looks for damage in a file that a server may be using, or in a copy of one. Nothing is written into it. SQLite has no checksums: what
/// was changed inside a value, and leaves the structure as it is, is not found.
public enum DatabaseFileCheck {
    /// As many defects as are told of one file.
    public static let limit = 10

    /// What is done now. Nothing says how far: the engine looks through all pages in one step, and then reads some of them many times.
    public enum Phase: Sendable {
        /// Reads every page of so many bytes.
        case pages(bytes: Int64)
        /// Compares every index with its table.
        case indices
    }

    /// Reads every page, and when these are whole compares every index with its table. Returns what is wrong in the engine's words,
    /// which name tables, indices and pages, and never what is in them; nothing when the file is whole. `progress` gets each phase when it
    /// begins.
    ///
    /// Throws `SQLFault.damaged` when it is so far gone that the engine gives up, and `unavailable` when it cannot be read.
    public static func defects(
        of path: String, progress: @escaping @Sendable (Phase) -> Void = { _ in }
    ) async throws -> [String] {
        do {
            return try await open(path).read { access in
                progress(.pages(bytes: try Self.size(access)))
                // The engine gives up at a damaged page as it compares, without saying which.
                let pages = try Self.defects("quick_check", access)
                guard pages.isEmpty else { return pages }
                // An empty file has no damage either: what a copy is that was cut off before it had begun.
                guard try access.tableExists(SchemaMigrator.table) else { return ["there is no table of clarion in it"] }
                progress(.indices)
                return try Self.defects("integrity_check", access)
            }
        } catch let error as DatabaseError {
            throw FaultMapping.fault(error)
        }
    }

    /// Whether it has the tables of this program, and be it one of them. Throws as `defects` does.
    public static func isOurs(_ path: String) async throws -> Bool {
        do {
            return try await open(path).read { try $0.tableExists(SchemaMigrator.table) }
        } catch let error as DatabaseError {
            throw FaultMapping.fault(error)
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func size(_ access: Database) throws -> Int64 {
        let pages = try Int64.fetchOne(access, sql: "PRAGMA page_count") ?? 0
        return try pages * (Int64.fetchOne(access, sql: "PRAGMA page_size") ?? 0)
    }

    private static func defects(_ check: String, _ access: Database) throws -> [String] {
        let lines = try String.fetchAll(access, sql: "PRAGMA \(check)(\(limit))").flatMap { $0.split(separator: "\n") }
        guard lines != ["ok"] else { return [] }
        // Headings.
        let defects = lines.filter { !$0.hasPrefix("***") }.prefix(limit).map(String.init)
        return defects.isEmpty ? ["\(check) did not say \"ok\""] : defects
    }
}
