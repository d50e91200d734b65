import ArgumentParser
import RichPushModel
import ServerSettings
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which running server a command talks to, and as whom.
package struct ServerArguments: ParsableArguments {
    @Option(name: .customLong("server"), help: "The server; else CLARION_SERVER_URL, else http://127.0.0.1:8080.")
    package var address: String?

    @Option(
        help: """
            The user who signs in; else the service key in CLARION_KEY, else CLARION_USER. The password is CLARION_PASSWORD or is \
            asked for.
            """)
    package var user: UserName?

    @Flag(help: "Allows http to another machine; the password can then be read on the way.")
    package var insecure = false

    package init() {}

    /// The address without a trailing slash, and the credentials of a user.
    package func credentials() throws -> (address: String, user: UserName, password: SecretText) {
        let environment = ProcessInfo.processInfo.environment
        let address = try serverAddress()
        guard let user = user ?? environment["CLARION_USER"].flatMap({ UserName($0) }) else {
            throw ValidationError("name the user with --user or CLARION_USER")
        }
        let password = try environment["CLARION_PASSWORD"].map { SecretText($0) } ?? Terminal.askPassword("Password of \(user):")
        return (address, user, password)
    }

    /// The address without a trailing slash, and the service key in CLARION_KEY; `nil` without one, and when a user is named by an option.
    package func keyCredentials() throws -> (address: String, key: SecretText)? {
        guard let key else { return nil }
        return (try serverAddress(), key)
    }

    /// Whether nothing has to be asked for at a terminal: there is a service key or a password.
    package var hasSecret: Bool { key != nil || ProcessInfo.processInfo.environment["CLARION_PASSWORD"] != nil }

    private var key: SecretText? {
        guard user == nil, let key = ProcessInfo.processInfo.environment["CLARION_KEY"], !key.isEmpty else { return nil }
        return SecretText(key)
    }

    /// The address without a trailing slash.
    package func serverAddress() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let address = address ?? environment["CLARION_SERVER_URL"] ?? "http://127.0.0.1:8080"
        guard let url = URL(string: address), let host = url.host(), url.scheme == "http" || url.scheme == "https" else {
            throw ValidationError("\(address) is not the address of a server, such as https://push.example.com")
        }
        guard url.scheme == "https" || AddressRange.isLoopback(host: host) || insecure else {
            throw ValidationError("a password or key over http to \(host) can be read on the way; use https, or add --insecure")
        }
        return address.hasSuffix("/") ? String(address.dropLast()) : address
    }
}

extension UserName: @retroactive ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
