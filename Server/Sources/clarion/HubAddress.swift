import ArgumentParser
import SharedAccess

/// How clients reach the hubs of a node, as an operator says it: the node itself does not know what stands before it.
struct HubAddress: ParsableArguments {
    @Option(
        help: "How clients reach the server: a name or address, and the port unless it is 443, such as push.example.com:8443.")
    var host: String

    @Flag(help: "For clients on this machine that can speak plain HTTP, at a loopback address only.")
    var plainHTTP = false

    func validate() throws { _ = try endpoint }

    /// The endpoint of a connection string.
    var endpoint: SharedAccessEndpoint {
        get throws {
            guard let endpoint = SharedAccessEndpoint("\(plainHTTP ? "http" : "sb")://\(host)/"), endpoint.path.isEmpty else {
                throw ValidationError(
                    "--host is a name or address with or without a port, and nothing more; --plain-http is for this machine only")
            }
            return endpoint
        }
    }
}
