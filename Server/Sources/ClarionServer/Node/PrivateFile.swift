#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import ServiceErrors

/// Files of the data directory that hold a secret and that the first start makes.
enum PrivateFile {
    /// Creates a file that only its owner can read. It appears whole or not at all and never in place of another: `false` when there is
    /// one already. The bytes and the name outlast a loss of power.
    static func create(_ text: String, at path: String) throws(ServiceError) -> Bool {
        let draft = "\(path).\(getpid())"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw fault(path) }
        defer { unlink(draft) }
        let bytes = Array(text.utf8)
        let isWritten = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten else { throw fault(path) }
        guard link(draft, path) == 0 else {
            if errno == EEXIST { return false }
            throw fault(path)
        }
        try keepName(of: path)
        return true
    }

    /// Whether only its owner can read the file; `nil` when there is none.
    static func isPrivate(_ path: String) throws(ServiceError) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw ServiceError(.notReady, "\(path) cannot be looked at")
        }
        return status.st_mode & 0o077 == 0
    }

    private static func keepName(of path: String) throws(ServiceError) {
        let slash = path.lastIndex(of: "/")
        let directory = open(slash.map { String(path[...$0]) } ?? ".", O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw fault(path) }
    }

    private static func fault(_ path: String) -> ServiceError { ServiceError(.storageUnavailable, "\(path) cannot be written") }
}
