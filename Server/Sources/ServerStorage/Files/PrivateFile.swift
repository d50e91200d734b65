#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import ServiceErrors

/// Files of the data directory that hold a secret and that the first start makes.
package enum PrivateFile {
    /// Creates a file that only its owner can read. It appears whole or not at all and never in place of another: `false` when there is
    /// one already. The bytes and the name outlast a loss of power.
    package static func create(_ text: String, at path: String) throws(ServiceError) -> Bool {
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

    /// Creates a folder for its owner alone, with those that are missing on the way there. Their names outlast a loss of power.
    package static func makeFolder(_ path: String) throws(ServiceError) {
        var (missing, next) = ([String](), path)
        while access(next, F_OK) != 0, errno == ENOENT {
            missing.append(next)
            next = parent(of: next)
        }
        for folder in missing.reversed() {
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw folderFault(path, errno) }
            try keepName(of: folder)
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw folderFault(path, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw folderFault(path, ENOTDIR) }
    }

    private static func folderFault(_ path: String, _ number: Int32) -> ServiceError {
        let reason = SystemErrorText.text(number)
        return ServiceError(.storageUnavailable, "the directory \(path) cannot be created or is not a directory: \(reason)")
    }

    private static func parent(of path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Waits until the name of a file or folder is on the disk. A folder above that this user may not open is passed over.
    static func keepName(of path: String) throws(ServiceError) {
        let directory = open(parent(of: path), O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw fault(path) }
    }

    private static func fault(_ path: String) -> ServiceError {
        ServiceError(.storageUnavailable, "\(path) cannot be written: \(SystemErrorText.text(errno))")
    }
}
