import ArgumentParser
import CommandLineSupport

// The commands of `clarion-lab` as `clarion --help` and the completion of a shell show them. They are never parsed here: `Clarion`
// hands them over before.

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LabProgram.Command.demo.rawValue,
        abstract: "Run everything in one process: server, local APNs and a simulated iPhone (needs \(LabProgram.name)).")

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}

struct EmulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LabProgram.Command.emulator.rawValue,
        abstract: "Run the local APNs alone, for anyone's client (needs \(LabProgram.name)).")

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}

struct PhoneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LabProgram.Command.phone.rawValue,
        abstract: "A simulated phone in this terminal, for any Clarion server and local APNs (needs \(LabProgram.name)).")

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}
