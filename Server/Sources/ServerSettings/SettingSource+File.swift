import Yams

extension SettingSource {
    /// Reads a YAML file: one mapping from key to value, or to a list of values.
    init(file path: String, text: String, declarations: [SettingDeclaration]) {
        let byKey = Dictionary(uniqueKeysWithValues: declarations.map { ($0.key, $0) })
        do {
            guard let root = try Parser(yaml: text).singleRoot() else { return }
            guard let mapping = root.mapping else {
                if root.scalar?.string.isEmpty != true {
                    complain(.file(path: path, line: root.mark?.line), "the file is not a list of lines like `key: value`")
                }
                return
            }
            for (key, value) in mapping { add(key, value, path: path, declarations: byKey) }
        } catch {
            complain(.file(path: path, line: Self.line(of: error)), Self.sentence(for: error))
        }
    }

    private mutating func add(_ key: Node, _ value: Node, path: String, declarations: [String: SettingDeclaration]) {
        let origin = SettingOrigin.file(path: path, line: key.mark?.line)
        guard let name = key.scalar?.string else { return complain(origin, "a key must be a word") }
        guard let declaration = declarations[name] else {
            return complain(origin, "\(name) " + Spelling.unknown(name, among: declarations.keys.sorted()))
        }
        switch value {
        case .scalar(let scalar) where Self.isEmpty(scalar):
            complain(origin, "\(name) has no value; take the line out for the default")
        case .scalar(let scalar):
            entries[name] = Entry(texts: [scalar.string], origin: origin)
        case .sequence(let sequence) where declaration.isList && sequence.allSatisfy { $0.scalar != nil }:
            entries[name] = Entry(texts: sequence.compactMap { $0.scalar?.string }, origin: origin)
        case .sequence, .mapping, .alias:
            complain(origin, "\(name) is not \(declaration.accepts)")
        }
    }

    /// `key:` and `key: ~` and `key: null` say nothing; a quoted text is what it is.
    private static func isEmpty(_ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    private static func line(of error: any Error) -> Int? {
        switch error as? YamlError {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        case .duplicatedKeysInMapping(_, let context): context.mark.line
        default: nil
        }
    }

    /// The parser's own description quotes lines of the file, which may hold what nobody should see; these words do not.
    private static func sentence(for error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _):
            "is not YAML: \(problem)"
        case .duplicatedKeysInMapping(let duplicates, _): "\(duplicates.sorted().joined(separator: ", ")) stands there twice"
        default: "is not YAML"
        }
    }
}
