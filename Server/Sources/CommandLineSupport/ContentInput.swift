#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import ArgumentParser
import ServerSettings

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The bytes of a file that was named on the command line; `-` is standard input.
package enum ContentInput {
    /// More than every server takes by default, so that a pipe without an end is noticed.
    private static let pipeLimit = 1 << 30

    /// Maps a file, or reads standard input to its end. Throws when there is nothing, or more than the limit or 1 GiB from a pipe.
    package static func read(_ path: String, limit: Int = .max) throws(InputFault) -> Data {
        let name = path == "-" ? "standard input" : path
        let content = try path == "-" ? piped() : mapped(path)
        guard !content.isEmpty else { throw InputFault("\(name) is empty", .badInput) }
        guard content.count <= limit else { throw InputFault("\(name) has more than \(limit) bytes", .badInput) }
        return content
    }

    /// The name without its folders; standard input has none of its own.
    package static func name(of path: String) -> String {
        path == "-" ? "content" : path.split(separator: "/").last.map(String.init) ?? "content"
    }

    private static func mapped(_ path: String) throws(InputFault) -> Data {
        if let fault = NamedFileFault(opening: path) { throw InputFault("\(path) cannot be read: \(fault)", .noInput) }
        do { return try Data(contentsOf: URL(filePath: path), options: .alwaysMapped) } catch {
            throw InputFault("\(path) cannot be read: \(NamedFileFault.noFile)", .noInput)
        }
    }

    private static func piped() throws(InputFault) -> Data {
        var content = Data()
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = systemRead(STDIN_FILENO, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw InputFault("standard input cannot be read: \(String(cString: strerror(errno)))", .noInput)
            }
            guard count > 0 else { return content }
            content.append(contentsOf: piece.prefix(count))
            guard content.count <= pipeLimit else {
                throw InputFault("standard input holds more than 1 GiB; name a file instead", .badInput)
            }
        }
    }
}

/// The system call, outside the type whose method has the same name.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}
