import ArgumentParser
import CommandLineSupport
import DeviceSimulation
import LabServices
import ServerSettings

/// The program that stands in for Apple and for phones. `clarion` hands its commands over to it when it lies beside it.
@main
struct ClarionLab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Stand-ins for Apple's services and for phones: a demo, a local APNs and simulated phones.",
        version: ClarionVersion.current,
        subcommands: [DemoCommand.self, EmulatorCommand.self, PhoneCommand.self, PhoneProcessCommand.self])

    static var _errorPrefix: String { CommandLineProgram.prefix }

    static func main() async { await CommandLineProgram.run(Self.self) }

    /// The program's name in usage and error messages. `clarion` passes its own name, since the user typed that.
    private static var name: String {
        let called = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
        return called == LabProgram.name ? LabProgram.name : "clarion"
    }
}

private struct DemoCommand: AsyncParsableCommand {
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

    /// `clarion` as it was called, or beside this program when this one was called itself.
    private static var program: String {
        let called = CommandLine.arguments.first ?? "clarion"
        return called.hasSuffix(LabProgram.name) ? String(called.dropLast(LabProgram.name.count)) + "clarion" : called
    }

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port is a number from 0 to 65535") }
    }

    func run() async throws {
        let options = DemoOptions(port: port, directory: directory, startsAfresh: fresh, program: Self.program)
        try await ServiceStart.coded { try await DemoService.run(options) { Terminal.say($0) } }
    }
}

/// The inside of a simulated phone: started by the phone, never by hand.
private struct PhoneProcessCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phone-process", abstract: "Part of a simulated phone.", shouldDisplay: false,
        subcommands: [AppCommand.self, ExtensionCommand.self])

    struct AppCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "app", abstract: "The app.", shouldDisplay: false)

        func run() async throws { try await PhoneProcessProgram.runApp() }
    }

    struct ExtensionCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "extension", abstract: "The service extension.", shouldDisplay: false)

        @Option(help: .hidden)
        var mistake: ExtensionMistake?

        func run() async throws { try await PhoneProcessProgram.runExtension(mistake: mistake) }
    }
}

extension ExtensionMistake: ExpressibleByArgument {}
