import ServiceErrors

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A system call on a file that failed. Carries no path: paths hold digests, and digests name contents.
struct FileFault: Error, Hashable {
    var call: String
    var number: Int32

    /// The fault of the call that failed just now on this thread.
    static func last(_ call: String) -> FileFault { FileFault(call: call, number: errno) }

    /// What a caller is told.
    var serviceError: ServiceError {
        let isFull = number == ENOSPC || number == EDQUOT
        let sentence = isFull ? "the content store is full" : "the content store cannot be used"
        return ServiceError(.storageUnavailable, "\(sentence): \(SystemErrorText.text(number))", retryAfter: 5)
    }
}
