#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The program beside `clarion` that stands in for Apple and for phones. `clarion` hands these commands over to it.
package struct LabProgram: Sendable {
    /// The name of its file.
    package static let name = "clarion-lab"

    /// The commands that are handed over.
    package enum Command: String, Sendable, CaseIterable { case demo, emulator, phone }

    /// Where its file has to lie.
    package let path: String

    /// Looks for it in the folder of another program's file.
    package init(beside program: String) {
        let folder = program.lastIndex(of: "/").map { program[...$0] } ?? ""
        path = folder + Self.name
    }

    /// Which of the commands a command line runs or asks help for; `nil` for a command that is not handed over. The arguments are
    /// without the program's name.
    package static func command(in arguments: [String]) -> Command? {
        let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        return words.first.flatMap(Command.init(rawValue:))
    }

    /// Replaces this program by that one in this process, so that signals, standard input and the exit code are its own from here on.
    /// The arguments begin with the name that this program was called by. Returns only if it cannot be started: with the sentence that
    /// says why.
    package func run(_ command: Command, arguments: [String]) -> String {
        var words = arguments.map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        execv(path, words)
        return sentence(for: command, errorCode: errno)
    }

    /// Why the command cannot be run.
    func sentence(for command: Command, errorCode: Int32) -> String {
        let need = "`clarion \(command.rawValue)` needs the program \(Self.name)"
        guard errorCode != ENOENT else {
            return "\(need), and there is no \(path); put it beside clarion, or build both with scripts/build"
        }
        return "\(need), and \(path) cannot be started: \(String(cString: strerror(errorCode)))"
    }
}
