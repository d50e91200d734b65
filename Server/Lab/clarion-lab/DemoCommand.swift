import ArgumentParser
import CommandLineSupport
import LabServices

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Run everything in one process: server, local APNs and a simulated iPhone.",
        discussion: """
            Listens on this machine only. Any name signs in with itself as password. Nothing is sent to Apple. \
            For a server that others reach, see `clarion serve`.
            """)

    @Option(help: "The port of the page. Without it 8080, or a free one if that is taken.")
    var port: Int?

    @Option(help: "Where the demo keeps its state.")
    var directory = ".demo"

    @Flag(help: "Begin afresh: remove what an earlier demo left in the folder.")
    var fresh = false

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port is a number from 0 to 65535") }
    }

    func run() async throws {
        let options = DemoOptions(port: port, directory: directory, startsAfresh: fresh)
        try await DemoService.run(options) { Terminal.say($0) }
    }
}
