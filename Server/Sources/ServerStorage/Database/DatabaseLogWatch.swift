import Logging
import SQLStorage
import SQLiteDatabase
import Synchronization

/// The write-ahead log of a database file. It begins anew when everything in it is in the file and no reader needs it; a reader that
/// does not end keeps it, and it grows with each write.
package final class DatabaseLogWatch: Sendable {
    /// The engine begins anew at 32 MiB and cuts the file to 64 MiB then: beyond twice as much something keeps it from that.
    static let bound: Int64 = 128 << 20

    private let bytes: @Sendable () -> Int64
    private let logger: Logger
    private let isLong = Mutex(false)

    /// `nil` for a database that is no file.
    package convenience init?(_ database: any SQLDatabase, logger: Logger) {
        guard let file = database.driver as? SQLiteDatabase else { return nil }
        self.init(bytes: { file.logBytes }, logger: logger)
    }

    init(bytes: @escaping @Sendable () -> Int64, logger: Logger) {
        self.bytes = bytes
        self.logger = logger
    }

    /// The size in bytes. The log of the node says once that it is beyond the bound, and once that it is not any more.
    package func look() -> Int64 {
        let bytes = bytes()
        let isNews = isLong.withLock { isLong in
            defer { isLong = bytes > Self.bound }
            return isLong != (bytes > Self.bound)
        }
        guard isNews else { return bytes }
        if bytes > Self.bound {
            logger.warning(
                "The write-ahead log of the database grows: a reader keeps it. See which program has the file open, such as a backup",
                metadata: ["count": "\(bytes)", "limit": "\(Self.bound)"])
        } else {
            logger.notice("The write-ahead log of the database was reset", metadata: ["count": "\(bytes)"])
        }
        return bytes
    }
}
