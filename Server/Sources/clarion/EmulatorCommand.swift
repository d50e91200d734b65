import ArgumentParser
import ClarionServer

struct EmulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator", abstract: "Run the local APNs alone, for anyone's client.",
        discussion: "It writes its certificate authority and a signing key into the folder, and prints how to use them.")

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port that answers as APNs; 0 for any free one.")
    var port = 2197

    @Option(help: "The port for simulated phones and administration; 0 for any free one.")
    var adminPort = 2198

    @Option(help: "Where the certificates and the key are written.")
    var directory = ".emulator"

    @Flag(help: "Allows an address beyond this machine. It asks for no password.")
    var open = false

    func validate() throws {
        guard (0...65_535).contains(port), (0...65_535).contains(adminPort) else {
            throw ValidationError("a port is a number from 0 to 65535")
        }
        guard open || AddressRange.isLoopback(host: host) else {
            throw ValidationError("\(host) is beyond this machine; add --open if that is meant")
        }
    }

    func run() async throws {
        let options = EmulatorOptions(
            address: Settings.Address(host: host, port: port), adminAddress: Settings.Address(host: host, port: adminPort),
            directory: directory)
        try await EmulatorService.run(options) { Terminal.say($0) }
    }
}
