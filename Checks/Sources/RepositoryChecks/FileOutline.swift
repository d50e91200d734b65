/// What a Swift file declares, read from its tokens and braces alone.
struct FileOutline {
    /// A type with the types and extensions around it, the outermost first.
    struct DeclaredType {
        var name: String
        var outer: [String]
        var isPrivate: Bool
        /// Declared directly in an extension.
        var isInExtension: Bool
        var isAlias: Bool

        /// Whether other files of the module may mention it by its name alone.
        var isTopLevel: Bool { outer.isEmpty && !isPrivate }
    }

    let path: String
    let tokens: [SwiftToken]
    private(set) var types: [DeclaredType] = []
    /// Functions outside of every type that other files may call.
    private(set) var functions: [String] = []
    /// Functions and properties of extensions that other files may use, by name, with the extended type.
    private(set) var members: [String: String] = [:]
    /// How often each name of a function, a variable, a constant or a case is declared, wherever.
    private(set) var declared: [String: Int] = [:]
    /// Names that stand before a colon without being declared there: labels and parameters.
    private(set) var labels: Set<String> = []
    private(set) var extended: Set<String> = []

    private enum Scope {
        case type(String)
        /// With the parts of a name such as `Outer.Inner`.
        case extended([String])
        case other
    }

    private var scopes: [Scope] = []
    /// What the next brace opens.
    private var pending: Scope?

    init(_ file: SourceFile) {
        path = file.path
        tokens = SwiftToken.tokens(of: file)
        for index in tokens.indices { read(index) }
    }

    /// The token at an index, empty beyond the ends.
    func text(_ index: Int) -> String { tokens.indices.contains(index) ? tokens[index].text : "" }

    private mutating func read(_ index: Int) {
        switch text(index) {
        case "{":
            scopes.append(pending ?? .other)
            pending = nil
        case "}":
            _ = scopes.popLast()
            // A requirement of a protocol opens no brace.
            pending = nil
        case ":": if isLabel(index - 1) { labels.insert(text(index - 1)) }
        case "extension" where scopes.isEmpty: readExtension(index)
        case let keyword where Self.typeKeywords.contains(keyword): readType(index)
        case "func", "var", "let": readMember(index)
        case "case": readCases(index)
        default: break
        }
    }

    private func isLabel(_ index: Int) -> Bool { text(index - 1) != "var" && text(index - 1) != "let" }

    private mutating func readExtension(_ index: Int) {
        var names = [text(index + 1)]
        while text(index + 2 * names.count) == "." { names.append(text(index + 2 * names.count + 1)) }
        pending = .extended(names)
        extended.insert(names[0])
    }

    private mutating func readType(_ index: Int) {
        let (keyword, name) = (text(index), text(index + 1))
        guard text(index - 1) != ".", tokens.indices.contains(index + 1), tokens[index + 1].isWord, !Self.keywords.contains(name)
        else { return }
        var outer: [String] = []
        for scope in scopes {
            switch scope {
            case .type(let name): outer.append(name)
            case .extended(let names): outer += names
            case .other: return
            }
        }
        var isInExtension = false
        if scopes.count == 1, case .extended = scopes[0] { isInExtension = true }
        types.append(
            DeclaredType(
                name: name, outer: outer, isPrivate: isPrivate(index), isInExtension: isInExtension,
                isAlias: keyword == "typealias"))
        if keyword != "typealias" { pending = .type(name) }
    }

    private mutating func readMember(_ index: Int) {
        let (keyword, name) = (text(index), text(index + 1))
        guard text(index - 1) != ".", tokens.indices.contains(index + 1) else { return }
        if keyword == "func" { pending = .other }
        guard tokens[index + 1].isWord else { return }
        declared[name, default: 0] += 1
        guard !isPrivate(index) else { return }
        if scopes.isEmpty, keyword == "func" { functions.append(name) }
        if scopes.count == 1, case .extended(let names) = scopes[0] { members[name] = names[0] }
    }

    /// The cases of an enumeration; those of a switch have no names.
    private mutating func readCases(_ index: Int) {
        guard case .type = scopes.last else { return }
        var next = index + 1
        while tokens.indices.contains(next), tokens[next].isWord {
            declared[text(next), default: 0] += 1
            next += 1
            if text(next) == "(" { next = end(ofParentheses: next) }
            if text(next) == "=" { next += 2 }
            guard text(next) == "," else { return }
            next += 1
        }
    }

    private func end(ofParentheses start: Int) -> Int {
        var (index, depth) = (start, 0)
        repeat {
            if text(index) == "(" { depth += 1 }
            if text(index) == ")" { depth -= 1 }
            index += 1
        } while depth > 0 && index < tokens.count
        return index
    }

    /// Whether the modifiers before a keyword keep the declaration to its file. `private(set)` does not.
    private func isPrivate(_ index: Int) -> Bool {
        var place = index - 1
        while Self.modifiers.contains(text(place)) || text(place) == ")" {
            if text(place) == ")" {
                // A modifier with an argument, such as `private(set)` or `unowned(unsafe)`.
                guard text(place - 2) == "(" else { return false }
                place -= 4
                continue
            }
            if text(place) == "private" || text(place) == "fileprivate" { return true }
            place -= 1
        }
        return false
    }

    private static let typeKeywords: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    /// What may follow `class` where it is no type.
    private static let keywords: Set = ["func", "var", "let", "subscript"]
    private static let modifiers: Set = [
        "public", "package", "internal", "fileprivate", "private", "open", "static", "class", "final", "indirect", "nonisolated",
        "mutating", "nonmutating", "override", "lazy", "weak", "unowned", "consuming", "borrowing", "prefix", "postfix",
    ]
}
