/// A type name means one thing: no two modules of the product declare the same one at the top level. Nested types and types of one
/// file are free.
public struct TypeNameCheck: Sendable {
    /// The folders whose subfolders are modules.
    private static let roots = ["Server/Sources/", "Server/Lab/", "Sources/"]

    /// Creates the check.
    public init() {}

    /// The names that more than one module declares, each at every place outside the module that comes first.
    public func findings(in files: [SourceFile]) -> [Finding] {
        var firstModules: [String: String] = [:]
        var findings: [Finding] = []
        for file in files {
            guard let module = Self.module(of: file.path) else { continue }
            for declaration in Self.declarations(in: file) {
                let first = firstModules[declaration.name, default: module]
                firstModules[declaration.name] = first
                if first == module { continue }
                findings.append(
                    Finding("\(file.path):\(declaration.line)", "\(declaration.name) is also the name of a type in \(first)"))
            }
        }
        return findings
    }

    private static func module(of path: String) -> String? {
        guard path.hasSuffix(".swift"), let root = roots.first(where: path.hasPrefix) else { return nil }
        return path.dropFirst(root.count).split(separator: "/").first.map(String.init)
    }

    private static func declarations(in file: SourceFile) -> [(name: String, line: Int)] {
        var stripper = LiteralStripper()
        var depth = 0
        return file.lines.enumerated().compactMap { index, line in
            let code = stripper.strip(line)
            let name = depth == 0 ? declaredType(in: code) : nil
            depth += code.count { $0 == "{" } - code.count { $0 == "}" }
            return name.map { ($0, index + 1) }
        }
    }

    /// The name of a type that the line declares for more than its own file.
    private static func declaredType(in code: String) -> String? {
        let words = code.split { !($0.isLetter || $0.isNumber || "_@#".contains($0)) }
        guard let place = words.firstIndex(where: { kinds.contains(String($0)) }), place + 1 < words.endIndex,
            words[..<place].allSatisfy({ $0.first == "@" || modifiers.contains(String($0)) })
        else { return nil }
        return String(words[place + 1])
    }

    private static let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    private static let modifiers: Set = [
        "public", "package", "internal", "open", "final", "indirect", "nonisolated", "distributed",
    ]
}
