import CommandLineSupport
// FileHandle is in no smaller part of it.
import Foundation

extension DecodingError {
    /// Where in a JSON text something is missing or wrong, and what.
    var place: String {
        switch self {
        case .keyNotFound(let key, let context): "\(Self.path(context.codingPath))there is no '\(key.stringValue)'"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(Self.path(context.codingPath))there is a value of another type"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "it is not JSON" : "\(Self.path(context.codingPath))\(context.debugDescription)"
        @unknown default: "it cannot be read"
        }
    }

    /// `[0].key: `, counted from 0 as programs do.
    private static func path(_ keys: [any CodingKey]) -> String {
        let path = keys.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return path.isEmpty ? "" : path + ": "
    }
}

/// The bytes of a content that was named on the command line; `-` is standard input.
enum ContentInput {
    /// More than every server takes by default, so that a pipe without an end is noticed.
    private static let pipeLimit = 1 << 30

    /// Maps a file, or reads standard input to its end. Throws when there is nothing, or when a pipe has more than 1 GiB.
    static func read(_ path: String) throws(InputFault) -> Data {
        let content: Data
        do {
            content = try path == "-" ? piped() : Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        } catch let fault as InputFault {
            throw fault
        } catch {
            throw InputFault("\(path == "-" ? "standard input" : path) cannot be read", .noInput)
        }
        guard !content.isEmpty else { throw InputFault("\(path == "-" ? "standard input" : path) is empty", .badInput) }
        return content
    }

    /// The name without its folders; standard input has none of its own.
    static func name(of path: String) -> String {
        path == "-" ? "content" : path.split(separator: "/").last.map(String.init) ?? "content"
    }

    private static func piped() throws -> Data {
        var content = Data()
        while let piece = try FileHandle.standardInput.read(upToCount: 1 << 20), !piece.isEmpty {
            content.append(piece)
            guard content.count <= pipeLimit else {
                throw InputFault("standard input holds more than 1 GiB; name a file instead", .badInput)
            }
        }
        return content
    }
}
