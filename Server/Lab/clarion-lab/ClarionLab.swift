import ArgumentParser
import CommandLineSupport
import ServerSettings

/// The program that stands in for Apple and for phones. `clarion` hands its commands over to it when it lies beside it.
@main
struct ClarionLab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "What stands in for Apple and for phones: a demo, a local APNs and simulated phones.",
        version: ClarionVersion.current,
        subcommands: [DemoCommand.self, EmulatorCommand.self, PhoneCommand.self, PhoneProcessCommand.self])

    static func main() async { await CommandLineProgram.run(Self.self) }

    /// What usage and complaints call the program. `clarion` hands over its own name, since that is what was typed.
    private static var name: String {
        let called = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
        return called == LabProgram.name ? LabProgram.name : "clarion"
    }
}
