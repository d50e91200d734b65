/// Which file of a module declares what a token of another file mentions.
struct ModuleNames {
    private let module: String
    /// Types of the module that have their name to themselves, and the file of each.
    private var types: [String: String] = [:]
    /// Types that are declared in an extension, with the type that they belong to.
    private var innerTypes: [String: (outer: String, path: String)] = [:]
    private var functions: [String: String] = [:]
    private var members: [String: String] = [:]
    /// Names of types that are private or lie in another type, and which types and files that shadow a type of the module concerns.
    private var shadows: [String: (types: Set<String>, paths: Set<String>)] = [:]

    /// - Parameter declared: how often each name of a function, variable or case is declared in all modules together.
    init(module: String, files: [FileOutline], declared: [String: Int]) {
        self.module = module
        var counts: [String: Int] = [:]
        for type in files.flatMap(\.types) { counts[type.name, default: 0] += 1 }
        for file in files { add(typesOf: file, counts) }
        let local = files.reduce(into: [String: Int]()) { $0.merge($1.declared, uniquingKeysWith: +) }
        let labels = files.reduce(into: Set<String>()) { $0.formUnion($1.labels) }
        for file in files {
            for name in file.functions where local[name] == 1 { functions[name] = file.path }
            let own = Set(file.types.filter(\.outer.isEmpty).map(\.name))
            for (name, type) in file.members where declared[name] == 1 && !own.contains(type) && !labels.contains(name) {
                if name.contains(where: \.isUppercase) { members[name] = file.path }
            }
        }
    }

    private mutating func add(typesOf file: FileOutline, _ counts: [String: Int]) {
        var repeated: Set<String> = []
        for type in file.types {
            if type.isTopLevel {
                // A name that two files declare, under `#if` for instance, belongs to neither.
                if let other = types.updateValue(file.path, forKey: type.name), other != file.path { repeated.insert(type.name) }
                continue
            }
            shadows[type.name, default: ([], [])].paths.insert(file.path)
            if let outer = type.outer.first { shadows[type.name]?.types.insert(outer) }
            if type.isInExtension, !type.isPrivate, !type.isAlias, counts[type.name] == 1, let outer = type.outer.last {
                innerTypes[type.name] = (outer, file.path)
            }
        }
        for name in repeated { types[name] = nil }
    }

    /// The file that declares what the token names; `nil` for what is no name, is not of this module, or may be another's.
    func path(of index: Int, in file: FileOutline) -> String? {
        let (name, before) = (file.text(index), file.text(index - 1))
        guard file.tokens[index].isWord else { return nil }
        let qualifier = before == "." ? file.text(index - 2) : nil
        if let path = types[name], qualifier == nil || qualifier == module, !isShadowed(name, in: file) { return path }
        if let inner = innerTypes[name], qualifier == nil || qualifier == inner.outer { return inner.path }
        let isCalled = file.text(index + 1) == "(" && before != "func"
        if let path = functions[name], isCalled, qualifier == nil { return path }
        if let path = members[name], isCalled || qualifier != nil { return path }
        return nil
    }

    /// Whether the name means another type in this file: one of its own, or one inside a type that it declares or extends.
    private func isShadowed(_ name: String, in file: FileOutline) -> Bool {
        guard let shadow = shadows[name] else { return false }
        return shadow.paths.contains(file.path) || !shadow.types.isDisjoint(with: file.extended)
            || file.types.contains { $0.outer.isEmpty && shadow.types.contains($0.name) }
    }
}
