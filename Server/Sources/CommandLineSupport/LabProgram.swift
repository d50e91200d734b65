#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(Darwin)
    import Darwin
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
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
        let names = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        return names.first.flatMap(Command.init(rawValue:))
    }

    /// Replaces this program by that one in this process, so that signals, standard input and the exit code are its own from here on.
    /// The arguments begin with the name that this program was called by. Returns only if it cannot be started: with the sentence that
    /// says why.
    package func run(_ command: Command, arguments: [String]) -> String {
        var copies = arguments.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        copies.append(nil)
        execv(path, copies)
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

/// The file of the program that runs.
package enum OwnExecutable {
    /// Its path, symbolic links resolved. Where the system does not say, it is what the program was called as.
    package static var path: String {
        #if canImport(Darwin)
            var length = UInt32(0)
            _NSGetExecutablePath(nil, &length)
            var buffer = [CChar](repeating: 0, count: Int(length))
            guard _NSGetExecutablePath(&buffer, &length) == 0 else { return CommandLine.arguments[0] }
            let called = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return URL(filePath: called).resolvingSymlinksInPath().path
        #else
            return (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        #endif
    }
}
