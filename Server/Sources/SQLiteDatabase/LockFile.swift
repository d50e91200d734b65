import Foundation
import GRDB
import SQLStorage
import ServiceErrors
import Synchronization

/// An advisory lock that ends with the process, however it ends.
final class LockFile: Sendable {
    private let descriptor: Mutex<Int32?>

    init(path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SQLFault.system(errno, "the lock file cannot be opened") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            _ = Self.closeDescriptor(descriptor)
            throw code == EWOULDBLOCK
                ? SQLFault.lockedByAnotherProcess(path: path)
                : SQLFault.system(code, "the lock file cannot be locked")
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Gives the lock back; a second call does nothing.
    func release() {
        descriptor.withLock { held in
            if let open = held {
                // A program that is being started at this moment may have the file open for an instant longer.
                flock(open, LOCK_UN)
                _ = Self.closeDescriptor(open)
            }
            held = nil
        }
    }

    private static func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
}

/// A file that only its owner can read.
enum DatabaseFile {
    /// Creates an empty file with mode 0600 where there is nothing yet.
    static func createNew(at path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            throw code == EEXIST
                ? SQLFault.unavailable(reason: "\(path) exists already") : SQLFault.system(code, "\(path) cannot be written")
        }
        close(descriptor)
    }

    /// Waits until what was written to a file is on disk, or the names in a folder are.
    static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SQLFault.system(errno, "\(path) cannot be read") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SQLFault.system(errno, "\(path) cannot be written") }
    }

    /// Waits until the name of a file is on disk: it is in the folder, which `fsync` of the file does not write.
    static func keepName(of path: String) throws {
        try synchronize(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
    }

    /// Throws why the engine cannot write the file, or make its companions (`-wal`, `-shm`) beside it: even a reader needs these.
    static func requireWritable(_ path: String) throws {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        for place in [path, folder] where access(place, W_OK) != 0 && errno != ENOENT {
            throw SQLFault.system(errno, "the database file cannot be opened")
        }
    }

    static func remove(_ path: String) { unlink(path) }

    /// In bytes; `nil` when there is no such file.
    static func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Creates the file with mode 0600 if it is absent. SQLite gives its companions (`-wal`, `-shm`) the same mode.
    static func create(at path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SQLFault.system(errno, "the database file cannot be opened") }
        close(descriptor)
        try keepName(of: path)
    }
}

extension SQLFault {
    /// A call of the system that failed, in words for the operator.
    static func system(_ number: Int32, _ what: String) -> SQLFault {
        .unavailable(reason: "\(what): \(SystemErrorText.text(number))")
    }
}

/// Looks for damage in a file that a server may be using, or in a copy of one. Nothing is written into it. SQLite has no checksums: what
/// was changed inside a value, and leaves the structure as it is, is not found.
public enum DatabaseFileCheck {
    /// The most defects that are reported of one file.
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
            throw Self.fault(error, path)
        }
    }

    /// Whether it has the tables of this program, and be it one of them. Throws as `defects` does.
    public static func isOurs(_ path: String) async throws -> Bool {
        do {
            return try await open(path).read { try $0.tableExists(SchemaMigrator.table) }
        } catch let error as DatabaseError {
            throw Self.fault(error, path)
        }
    }

    /// The engine does not say why it cannot open a file. The system does, in the words of the commands that write.
    private static func fault(_ error: DatabaseError, _ path: String) -> any Error {
        guard error.resultCode == .SQLITE_CANTOPEN else { return FaultMapping.fault(error) }
        do { try DatabaseFile.requireWritable(path) } catch { return error }
        return FaultMapping.fault(error)
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
