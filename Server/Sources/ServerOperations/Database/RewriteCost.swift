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

/// What it costs to write a database file anew. The engine makes the new file as a temporary one first and copies it into the log, which
/// lies beside the old file.
struct RewriteCost {
    /// Bytes of the new file.
    let bytes: Int64
    /// Where the log lies.
    let folder: String
    /// Where the engine makes temporary files.
    let temporary: String

    init(bytes: Int64, file: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.bytes = bytes
        folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        // The order of the engine; it passes over folders that it cannot write.
        let candidates = [environment["SQLITE_TMPDIR"], environment["TMPDIR"], "/var/tmp", "/usr/tmp", "/tmp"].compactMap(\.self)
        temporary = candidates.first { FileManager.default.fileExists(atPath: $0 + "/.") && access($0, W_OK | X_OK) == 0 } ?? "."
    }

    /// The cost in words.
    var sentence: String {
        """
        that needs \(megabytes) MB of free disk in \(folder) and as much in \(temporary) (SQLITE_TMPDIR names another folder) until it is \
        done, and no server can write meanwhile: what it has to write fails after 5 seconds
        """
    }

    /// Throws `notReady` with a sentence where there is less room than needed. `freeSpace` returns the free bytes of a folder's disk,
    /// `nil` when they cannot be found; then nothing is refused.
    func requireRoom(_ freeSpace: (String) -> Int64?) throws(ServiceError) {
        let isOneDisk = Self.device(folder) == Self.device(temporary)
        try require(isOneDisk ? bytes * 2 : bytes, in: folder, freeSpace)
        if !isOneDisk { try require(bytes, in: temporary, freeSpace) }
    }

    private func require(_ bytes: Int64, in folder: String, _ freeSpace: (String) -> Int64?) throws(ServiceError) {
        guard let free = freeSpace(folder), free < bytes else { return }
        throw ServiceError(
            .notReady,
            """
            the disk of \(folder) has \(DatabaseAdministration.megabytes(free)) MB free, and \
            \(DatabaseAdministration.megabytes(bytes)) MB are needed; nothing was done
            """)
    }

    /// Rounded up.
    private var megabytes: Int64 { (bytes + 999_999) / 1_000_000 }

    private static func device(_ path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(truncatingIfNeeded: status.st_dev) : nil
    }
}
