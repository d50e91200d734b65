import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Why the system lets no service listen at an address.
public enum ListenCause {
    /// The cause as the end of a sentence.
    public static func text(of error: any Error) -> String {
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE?: "another program uses it"
        case EACCES?: "this user may not listen there"
        case EADDRNOTAVAIL?: "this machine has no such address"
        case let code?: "the system refused it (errno \(code))"
        case nil: "\(error)"
        }
    }
}
