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
        // A key begins with dashes; left standing, it would be taken for a flag and repeated in a problem.
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
