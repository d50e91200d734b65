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

/// The database file of a data directory whose rows have moved elsewhere: under another name, so that no server starts on it.
struct RetiredDatabaseFile {
    /// Where it lay.
    let path: String

    /// Where it lies.
    var retired: String { path + ".moved" }

    /// Whether it was put away, and no other has taken its place.
    var isThere: Bool {
        let files = FileManager.default
        return files.fileExists(atPath: retired) && !files.fileExists(atPath: path)
    }

    /// Renames the file and what belongs to it, and returns when a power cut cannot undo that. It may have been begun before. The file comes
    /// first: without it the rest is none.
    func put() throws {
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
            Mend that and run clarion database move again
            """)
    }
}
