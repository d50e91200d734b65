#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Why a file that a setting names cannot be used, as the end of the sentence "PATH cannot be read: ".
enum SettingFileFault: String, Error, CustomStringConvertible {
    case missing = "there is no such file"
    case notAllowed = "this user may not read it"
    case noFile = "it is no file"
    case tooLarge = "it is larger than a megabyte"
    case notText = "it is not UTF-8 text"

    var description: String { rawValue }

    /// What hinders opening the file; `nil` when nothing does. Only an attempt knows: a folder on the way may be closed as well.
    init?(opening path: String) {
        // Without waiting, or a named pipe would hold the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        self.init(errorNumber: errno)
    }

    /// The fault behind an error number of `open`.
    init(errorNumber: Int32) {
        switch errorNumber {
        case ENOENT, ENOTDIR: self = .missing
        case EACCES, EPERM: self = .notAllowed
        default: self = .noFile
        }
    }
}
