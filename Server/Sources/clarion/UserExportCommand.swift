import ArgumentParser
import CommandLineSupport
import RichPushModel
import ServerOperations

struct UserExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write everything that is stored about a user, one record a line as JSON.")

    @Argument(help: "The user.")
    var name: UserName

    @Option(help: "A new folder for the records and the user's contents. Without it the records go to standard output.")
    var to: String?

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        let folder = try to.map { try ExportFolder(path: $0) }
        try await users.export(name, to: folder) { line in
            if let folder { try folder.write(line: line) } else { print(line) }
        }
        if let to { Terminal.note("wrote what is stored about \(name) to \(to)") }
    }
}
