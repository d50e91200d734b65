import SQLStorage
import ServiceErrors
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

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
