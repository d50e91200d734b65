import ArgumentParser

/// A file that was named on the command line and cannot be used. Nothing was sent.
struct InputFault: Error {
    /// What is wrong with which file, for people.
    let sentence: String
    let exitCode: ExitCode

    init(_ sentence: String, _ exitCode: ExitCode) {
        self.sentence = sentence
        self.exitCode = exitCode
    }
}

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
