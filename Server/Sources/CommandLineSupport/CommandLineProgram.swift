import ArgumentParser
import ServerSettings
import ServiceErrors

/// How both programs read their command line, run a command and end.
package enum CommandLineProgram {
    /// Runs the command that the arguments of this process name.
    ///
    /// A mistake in the arguments is reported with the command's usage. What a command finds out later is a sentence alone: usage
    /// would not help with a file or an environment variable. Both begin with `clarion: `.
    package static func run(_ root: any ParsableCommand.Type) async {
        if let complaint = CommandLookup.complaint(about: Array(CommandLine.arguments.dropFirst()), root: root) {
            Terminal.note(prefix + complaint)
            root.exit(withError: ExitCode.validationFailure)
        }
        var command: any ParsableCommand
        do { command = try root.parseAsRoot() } catch { root.exit(withError: error) }
        do {
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            guard let complaint = complaint(about: error) else { root.exit(withError: error) }
            Terminal.note(prefix + complaint.sentence)
            root.exit(withError: complaint.exitCode)
        }
    }

    /// The sentence of what a command found out, and the code with which the program ends. `nil` for what the library prints.
    static func complaint(about error: any Error) -> (sentence: String, exitCode: ExitCode)? {
        switch error {
        case let error as ValidationError: (error.message, .validationFailure)
        case let fault as InputFault: (fault.sentence, fault.exitCode)
        case let error as ServiceError: (error.sentence, .failure)
        default: nil
        }
    }

    /// How a problem begins. Both programs give it to the library as well, for the problems that it reports.
    package static let prefix = "clarion: "
}

/// Finds the command that the arguments of a command line name.
private enum CommandLookup {
    /// The sentence about the first argument that names no command, with the command that was probably meant. `nil` when every one
    /// that has to name a command does, so that the parser judges the rest.
    static func complaint(about arguments: [String], root: any ParsableCommand.Type) -> String? {
        let asksForHelp = arguments.first == "help"
        let names = asksForHelp ? arguments.dropFirst() : arguments[...]
        var command = root
        var path = [root._commandName]
        for word in names {
            let children = command.configuration.subcommands
            // Where there are no more commands to name, the rest are arguments, which help has none of. A command that stands for a
            // missing name takes no arguments without one.
            guard !word.hasPrefix("-"), !children.isEmpty || asksForHelp else { return nil }
            guard let child = children.first(where: { $0._commandName == word }) else {
                // The parser's own.
                if word == "help", command == root { return nil }
                return sentence(word, among: children.filter { $0.configuration.shouldDisplay }.map { $0._commandName }, of: path)
            }
            command = child
            path.append(word)
        }
        return nil
    }

    private static func sentence(_ word: String, among names: [String], of path: [String]) -> String {
        let parent = path.joined(separator: " ")
        let meant = Spelling.nearest(to: word, among: names).map { "; did you mean '\(parent) \($0)'?" } ?? ""
        return "'\(word)' is not a command of \(parent)\(meant)\nSee '\(parent) --help'."
    }
}

/// How `serve`, `demo` and `emulator` end when they cannot work.
package enum ServiceStart {
    /// Runs a service. An error about its storage gets the exit code that means it; any other passes as it is.
    package static func coded(_ run: () async throws -> Void) async throws {
        do { try await run() } catch let error as ServiceError {
            guard let code = exitCode(of: error.code) else { throw error }
            throw InputFault(error.sentence, code)
        }
    }

    /// The code for what keeps a service from its folder or database; `nil` when 1 says all.
    static func exitCode(of code: ServiceErrorCode) -> ExitCode? {
        switch code {
        // A conflict is a folder of another program, or of a demo that runs.
        case .storageUnavailable, .conflict: .cannotCreate
        default: nil
        }
    }
}

/// The codes of `sysexits.h`, so that a script can distinguish its own mistake from an unreachable server.
extension ExitCode {
    /// A file that was named holds nothing that can be used.
    package static let badInput = ExitCode(65)
    /// A file that was named cannot be read.
    package static let noInput = ExitCode(66)
    /// A folder that was named cannot be made or written, or another process holds it; for a service its database as well.
    package static let cannotCreate = ExitCode(73)
    /// The settings have problems.
    package static let badSettings = ExitCode(78)
    /// The server cannot be reached.
    package static let unreachable = ExitCode(69)
    /// A program that the command needs is not there.
    package static let missingProgram = ExitCode(69)
    /// The server refused the name or the password.
    package static let noPermission = ExitCode(77)
    /// Nothing is known of the outcome yet; asking again is safe.
    package static let tryAgain = ExitCode(75)
}

/// A file, a folder or an answer that was given on the command line and cannot be used. Nothing was sent.
package struct InputFault: Error, Hashable {
    /// A message that says what is wrong with which file.
    package let sentence: String
    package let exitCode: ExitCode

    package init(_ sentence: String, _ exitCode: ExitCode) {
        self.sentence = sentence
        self.exitCode = exitCode
    }
}

extension ServiceError {
    /// What is wrong, for a person. The code is for programs, which have the exit code here.
    package var sentence: String { detail ?? code.rawValue }
}
