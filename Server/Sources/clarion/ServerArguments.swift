import ArgumentParser
import ClarionServer
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which running server a command talks to, and as whom.
struct ServerArguments: ParsableArguments {
    @Option(name: .customLong("server"), help: "The server; else CLARION_SERVER_URL, else http://127.0.0.1:8080.")
    var address: String?

    @Option(help: "Who signs in; else CLARION_USER. The password is CLARION_PASSWORD or is asked for.")
    var user: UserName?

    @Flag(help: "Allows http to another machine; the password can then be read on the way.")
    var insecure = false

    func client() throws -> BackendHTTPClient {
        let (address, user, password) = try credentials()
        return BackendHTTPClient(address: address, user: user, password: password)
    }

    /// The address without a slash at its end, and who signs in.
    func credentials() throws -> (address: String, user: UserName, password: SecretText) {
        let environment = ProcessInfo.processInfo.environment
        let address = address ?? environment["CLARION_SERVER_URL"] ?? "http://127.0.0.1:8080"
        guard let url = URL(string: address), let host = url.host(), url.scheme == "http" || url.scheme == "https" else {
            throw ValidationError("\(address) is not the address of a server, such as https://push.example.com")
        }
        guard url.scheme == "https" || AddressRange.isLoopback(host: host) || insecure else {
            throw ValidationError("a password over http to \(host) can be read on the way; use https, or add --insecure")
        }
        guard let user = user ?? environment["CLARION_USER"].flatMap({ UserName($0) }) else {
            throw ValidationError("say who signs in with --user or CLARION_USER")
        }
        let password = try environment["CLARION_PASSWORD"].map { SecretText($0) } ?? Terminal.askPassword("Password of \(user):")
        return (address.hasSuffix("/") ? String(address.dropLast()) : address, user, password)
    }
}
