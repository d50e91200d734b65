extension SettingSource {
    /// Variables of the command line client; a server that is started in the same shell must not trip over them.
    static let clientVariables: Set<String> = ["CLARION_SERVER_URL", "CLARION_USER", "CLARION_PASSWORD", "CLARION_HUB"]

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
