import Foundation
import ServiceErrors

/// The database file of a data directory whose rows have moved elsewhere: under another name, so that no server starts on it.
package struct RetiredDatabaseFile {
    /// Where it lay.
    let path: String

    package init(path: String) { self.path = path }

    /// Where it lies.
    var retired: String { path + ".moved" }

    /// Whether it was put away, and no other has taken its place.
    package var isThere: Bool {
        let files = FileManager.default
        return files.fileExists(atPath: retired) && !files.fileExists(atPath: path)
    }

    /// Throws when a file lies in each of the two places: whatever was moved, one of them was not.
    package func requireOne() throws {
        let files = FileManager.default
        guard files.fileExists(atPath: path), files.fileExists(atPath: retired) else { return }
        throw ServiceError(
            .storageUnavailable,
            """
            there are both \(path) and \(retired), which an earlier move put away: a server was started without database-url since. \
            Nothing was changed; put aside the one whose rows you do not want
            """)
    }

    /// Throws when the rows have moved and a file of the old name would begin anew, without them.
    func requireNotRetired() throws {
        guard isThere else { return }
        throw ServiceError(
            .storageUnavailable,
            """
            the rows of \(path) have moved to PostgreSQL, and the file is \(retired) now: set database-url, or give the file its \
            name back to go on with what it had then
            """)
    }

    /// Throws while there is a file whose rows the database elsewhere does not have: after a start without them the two cannot be
    /// merged any more.
    func requireNoneLeft() throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        throw ServiceError(
            .storageUnavailable,
            """
            database-url is set, and \(path) is still there: run clarion database move to bring its rows into PostgreSQL, put the \
            file aside if they are not needed, or remove database-url to go on with the file
            """)
    }

    /// Renames the file and what belongs to it, and returns when a power cut cannot undo that. It may have been begun before. The file comes
    /// first: without it the rest is none.
    package func put() throws {
        try requireOne()
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            guard rename(path + suffix, retired + suffix) == 0 else { throw failure(suffix) }
        }
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        defer { close(folder) }
        guard folder >= 0, fsync(folder) == 0 else { throw failure("") }
    }

    private func failure(_ suffix: String) -> ServiceError {
        ServiceError(
            .storageUnavailable,
            """
            every row has arrived, but \(path)\(suffix) cannot be renamed to \(retired)\(suffix): \(String(cString: strerror(errno))). \
            Fix that and run clarion database move again
            """)
    }
}
