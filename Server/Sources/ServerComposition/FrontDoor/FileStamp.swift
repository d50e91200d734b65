#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What tells one state of a file from another without reading it.
struct FileStamp: Hashable, Sendable {
    private let file: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// `nil` when there is no such file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let changed = status.st_mtimespec
        #else
            let changed = status.st_mtim
        #endif
        file = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = Int64(changed.tv_sec)
        nanoseconds = Int64(changed.tv_nsec)
    }
}
