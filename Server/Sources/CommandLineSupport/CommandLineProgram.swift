import ArgumentParser

/// How both programs read their command line, run a command and end.
package enum CommandLineProgram {
    /// Runs the command that the arguments of this process name.
    ///
    /// What is wrong with the words of the command line is told with the command's usage. What a command finds out later is a
    /// sentence alone: usage, and that of the program as a whole, would not help with a file or an environment variable.
    package static func run(_ root: any ParsableCommand.Type) async {
        if let complaint = CommandWords.complaint(about: Array(CommandLine.arguments.dropFirst()), root: root) {
            Terminal.note("clarion: \(complaint)")
            root.exit(withError: ExitCode.validationFailure)
        }
        var command: any ParsableCommand
        do { command = try root.parseAsRoot() } catch { root.exit(withError: error) }
        do {
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch let error as ValidationError {
            Terminal.note("clarion: \(error.message)")
            root.exit(withError: ExitCode.validationFailure)
        } catch {
            root.exit(withError: error)
        }
    }
}
