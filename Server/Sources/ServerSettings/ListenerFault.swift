import NIOCore
import ServiceErrors

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Says which listener could not be opened, and by which setting it moves.
package enum ListenerFault {
    /// Runs a listener and turns the error of the socket into a sentence for the operator.
    package static func explained<Result>(
        _ address: Settings.Address, setting: String, _ run: () async throws -> Result
    ) async throws -> Result {
        do { return try await run() } catch let error as IOError {
            let reason: String
            switch error.errnoCode {
            case EADDRINUSE: reason = "another program uses it"
            case EACCES: reason = "this user may not listen there"
            case EADDRNOTAVAIL: reason = "this machine has no such address"
            default: reason = "the system refused it (errno \(error.errnoCode))"
            }
            throw ServiceError(
                .notReady, "port \(address.port) of \(address.host) cannot be used: \(reason); choose another \(setting)")
        }
    }
}
