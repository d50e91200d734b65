import Yams

/// What one source says: texts by key, each with the place it stands, and what could not be understood at all.
struct SettingSource: Sendable {
    struct Entry: Hashable, Sendable {
        /// One text, or for a list any number.
        var texts: [String]
        var origin: SettingOrigin
    }

    var entries: [String: Entry] = [:]
    var problems: [SettingProblem] = []

    mutating func complain(_ origin: SettingOrigin, _ sentence: String) {
        problems.append(SettingProblem(place: origin.description, sentence: sentence))
    }

    /// The texts of a list that came as one text.
    static func split(_ text: String) -> [String] {
        text.split(separator: ",").map { piece in
            String(piece.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
    }
}

/// Where a value came from, as a text by which an operator finds it.
enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    case commandLine(String)
    case environment(String)
    /// What a person answered to a question.
    case answer(question: String)
    case file(path: String, line: Int?)
    case standard

    var description: String {
        switch self {
        case .commandLine(let argument): "command line \(argument)"
        case .environment(let name): "environment \(name)"
        case .answer(let question): "the answer to \"\(question)\""
        case .file(let path, let line): line.map { "\(path) line \($0)" } ?? path
        case .standard: "default"
        }
    }
}

extension SettingSource {
    /// Reads `--key value`, `--key=value` and, for settings that are true or false, `--key` alone.
    init(arguments: [String], declarations: [SettingDeclaration]) {
        let byFlag = Dictionary(uniqueKeysWithValues: declarations.map { ($0.flag, $0) })
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard argument.hasPrefix("--"), let name = parts.first else {
                complain(.commandLine(argument), "is neither a setting nor the value of one")
                continue
            }
            guard let declaration = byFlag[name] else {
                complain(.commandLine(name), Spelling.unknown(name, among: byFlag.keys.sorted()))
                if parts.count == 1, rest.first?.hasPrefix("--") == false { rest.removeFirst() }
                continue
            }
            let inline = parts.count == 2 ? parts[1] : nil
            add(declaration, value: inline ?? Self.takeValue(declaration, from: &rest))
        }
    }

    private static func takeValue(_ declaration: SettingDeclaration, from rest: inout ArraySlice<String>) -> String? {
        let next = rest.first
        if declaration.isFlag {
            guard next == "true" || next == "false" else { return "true" }
            return rest.removeFirst()
        }
        // A key begins with dashes; left in place, it would be taken for a flag and quoted in a problem.
        if declaration.isSecret { return rest.popFirst() }
        return next?.hasPrefix("--") == false ? rest.removeFirst() : nil
    }

    private mutating func add(_ declaration: SettingDeclaration, value: String?) {
        let origin = SettingOrigin.commandLine(declaration.flag)
        guard let value else { return complain(origin, "has no value") }
        guard !declaration.isSecret else {
            return complain(
                origin,
                "a secret on the command line is in every process list; use \(declaration.fileVariable ?? declaration.variable)")
        }
        let texts = declaration.isList ? Self.split(value) : [value]
        if let earlier = entries[declaration.key] {
            guard declaration.isList else { return complain(origin, "is given twice") }
            entries[declaration.key] = Entry(texts: earlier.texts + texts, origin: origin)
        } else {
            entries[declaration.key] = Entry(texts: texts, origin: origin)
        }
    }
}

extension SettingSource {
    /// Variables of the command line client; a server that is started in the same shell must not trip over them.
    static let clientVariables: Set<String> = [
        "CLARION_SERVER_URL", "CLARION_USER", "CLARION_PASSWORD", "CLARION_KEY", "CLARION_HUB",
    ]

    /// Names the file of settings, like the flag `--config`.
    static let configVariable = "CLARION_CONFIG"

    /// Reads the variables that begin with `CLARION_`. For a secret, `…_FILE` names a file that holds it.
    init(environment: [String: String], declarations: [SettingDeclaration], readText: (String) throws -> String) {
        var byName: [String: (declaration: SettingDeclaration, isFile: Bool)] = [:]
        for declaration in declarations {
            byName[declaration.variable] = (declaration, false)
            if let name = declaration.fileVariable { byName[name] = (declaration, true) }
        }
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
            guard name.hasPrefix(SettingDeclaration.variablePrefix), name != Self.configVariable,
                !Self.clientVariables.contains(name)
            else { continue }
            guard let known = byName[name] else {
                complain(.environment(name), Spelling.unknown(name, among: byName.keys.sorted()))
                continue
            }
            add(known.declaration, name: name, value: value, isFile: known.isFile, readText: readText)
        }
    }

    private mutating func add(
        _ declaration: SettingDeclaration, name: String, value: String, isFile: Bool, readText: (String) throws -> String
    ) {
        let origin = SettingOrigin.environment(name)
        if let earlier = entries[declaration.key] {
            return complain(origin, "says the same as \(earlier.origin); set only one of them")
        }
        guard isFile else {
            entries[declaration.key] = Entry(texts: declaration.isList ? Self.split(value) : [value], origin: origin)
            return
        }
        do {
            entries[declaration.key] = Entry(texts: [try readText(value)], origin: origin)
        } catch {
            complain(origin, "\(value) cannot be read: \(error)")
        }
    }
}

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

    /// The parser's own description quotes lines of the file, which may hold secrets; this sentence does not.
    private static func sentence(for error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _):
            "is not YAML: \(problem)"
        case .duplicatedKeysInMapping(let duplicates, _): "\(duplicates.sorted().joined(separator: ", ")) stands there twice"
        default: "is not YAML"
        }
    }
}

/// Finds the word that was probably meant by a mistyped one.
public enum Spelling {
    /// The sentence about an unknown key, with the nearest known one if there is one.
    static func unknown(_ word: String, among known: [String], show: (String) -> String = { $0 }) -> String {
        nearest(to: word, among: known).map { "is not a setting; did you mean \(show($0))?" } ?? "is not a setting"
    }

    /// The known word that is so near that it was probably meant.
    public static func nearest(to word: String, among known: some Sequence<String>) -> String? {
        let nearest = known.map { (distance: distance(word, $0), key: $0) }.min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(2, word.count / 4) else { return nil }
        return nearest.key
    }

    /// How many letters must be put in, taken out or exchanged to turn one word into the other.
    static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (index, letter) in left.utf8.prefix(100).enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
