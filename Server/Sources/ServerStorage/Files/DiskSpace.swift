#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The room on a disk.
package enum DiskSpace {
    /// What this user may still write to the disk of a path, in bytes; `nil` when the system does not say.
    package static func free(at path: String) -> Int64? {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return nil }
        return Int64(clamping: UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize)).partialValue)
    }
}
