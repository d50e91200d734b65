import GRDB
import GRDBSQLite

/// Counts the pages that the engine reads for one long statement: how far it has come in a walk through the whole file.
enum PageReads {
    /// The engine reports after so many of its instructions, of which a row takes some ten.
    private static let pause: Int32 = 1_000

    /// Runs the statement and hands `report` how many bytes of pages it has read from the file, now and then.
    static func during(
        _ access: Database, report: @escaping (_ bytes: Int64) -> Void, _ work: () throws -> Void
    ) throws {
        guard let connection = access.sqliteConnection else { return try work() }
        let pageSize = try Int64.fetchOne(access, sql: "PRAGMA page_size") ?? 0
        let observer = Observer(connection) { report($0 * pageSize) }
        try withExtendedLifetime(observer) {
            sqlite3_progress_handler(
                connection, pause,
                { context in
                    if let context { Unmanaged<Observer>.fromOpaque(context).takeUnretainedValue().tell() }
                    // Anything else would end the statement.
                    return 0
                }, Unmanaged.passUnretained(observer).toOpaque())
            defer { sqlite3_progress_handler(connection, 0, nil, nil) }
            try work()
        }
    }

    /// What the engine's handler calls, on the thread of the statement.
    private final class Observer {
        private let connection: OpaquePointer
        private let report: (_ pages: Int64) -> Void
        private var reported: Int64 = 0

        init(_ connection: OpaquePointer, report: @escaping (Int64) -> Void) {
            self.connection = connection
            self.report = report
            _ = pages(resets: true)
        }

        func tell() {
            let pages = pages(resets: false)
            guard pages > reported else { return }
            reported = pages
            report(pages)
        }

        /// The pages that the engine did not find in its memory.
        private func pages(resets: Bool) -> Int64 {
            var (count, highest): (Int32, Int32) = (0, 0)
            sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_MISS, &count, &highest, resets ? 1 : 0)
            return Int64(count)
        }
    }
}
