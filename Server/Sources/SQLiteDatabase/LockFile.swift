import SQLStorage
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
        guard descriptor >= 0 else { throw SQLFault.unavailable(reason: "the lock file cannot be opened, errno \(errno)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            _ = Self.closeDescriptor(descriptor)
            throw code == EWOULDBLOCK
                ? SQLFault.lockedByAnotherProcess(path: path)
                : SQLFault.unavailable(reason: "the lock file cannot be locked, errno \(code)")
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
enum PrivateFile {
    /// Creates an empty file with mode 0600 where there is nothing yet.
    static func createNew(at path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SQLFault.unavailable(reason: errno == EEXIST ? "\(path) exists already" : "\(path) cannot be written")
        }
        close(descriptor)
    }

    /// Waits until what was written to a file is on disk.
    static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SQLFault.unavailable(reason: "\(path) cannot be read") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SQLFault.unavailable(reason: "\(path) cannot be written") }
    }

    static func remove(_ path: String) { unlink(path) }

    /// Creates the file with mode 0600 if it is absent. SQLite gives its companions (`-wal`, `-shm`) the same mode.
    static func create(at path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SQLFault.unavailable(reason: "the database file cannot be opened, errno \(errno)") }
        close(descriptor)
    }
}
