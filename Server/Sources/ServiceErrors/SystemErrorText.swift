#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What an error number of the system means for an operator who reads it in a log, at a start or in `/readyz`.
public enum SystemErrorText {
    /// A short clause such as `the disk is full (ENOSPC)`; for a number that is not in the list the number itself. No path, no data.
    public static func text(_ number: Int32) -> String {
        switch number {
        case ENOSPC: "the disk is full (ENOSPC)"
        case EDQUOT: "the disk quota of the server's user is used up (EDQUOT)"
        case EROFS: "the file system is mounted read-only (EROFS)"
        case EACCES, EPERM: "the server's user has no permission (\(number == EACCES ? "EACCES" : "EPERM"))"
        case EMFILE: "the process has too many open files (EMFILE); raise its limit, LimitNOFILE in a systemd unit"
        case ENFILE: "the system has too many open files (ENFILE)"
        case EIO: "the disk reports an input/output error (EIO)"
        case ENOENT: "a folder on the way there is missing (ENOENT)"
        case ENOTDIR: "a part of the path is no folder (ENOTDIR)"
        default: "the system refused it (errno \(number))"
        }
    }
}
