/// Finds the value of each setting: the first source that has it wins, and the default holds when none has. Collects problems.
struct SettingsResolver {
    /// What holds for one setting, for the report.
    struct Resolution: Hashable, Sendable {
        var key: String
        /// The text as given or the default's; absent when there is no value.
        var texts: [String]?
        var origin: SettingOrigin
        var isSecret: Bool
        /// Sources of lower rank that say something too, and are not heard.
        var hidden: [SettingOrigin]
        /// Whether it is the default, written out or not.
        var isStandard: Bool
    }

    /// In order of rank.
    private let sources: [SettingSource]
    private let surroundings: SettingsSurroundings
    private(set) var problems: [SettingProblem]
    private(set) var resolutions: [Resolution] = []

    init(sources: [SettingSource], surroundings: SettingsSurroundings) {
        self.sources = sources
        self.surroundings = surroundings
        problems = sources.flatMap(\.problems)
    }

    /// The value of a setting; its default, and one problem more, when the winning text does not fit.
    mutating func value<Value>(_ setting: Setting<Value>) -> Value {
        let declaration = setting.declaration
        let entries = sources.compactMap { $0.entries[declaration.key] }
        guard let entry = entries.first else {
            record(declaration, texts: declaration.defaultTexts, origin: .standard, isStandard: true)
            return setting.defaultValue
        }
        let parsed = setting.kind.parse(entry.texts)
        record(
            declaration, texts: entry.texts, origin: entry.origin, hidden: entries.dropFirst().map(\.origin),
            isStandard: parsed.map { setting.kind.format($0) == declaration.defaultTexts } ?? false)
        // A text of lower rank that does not fit is a mistake as well; it would come to light on the worst day.
        for hidden in entries.dropFirst() where setting.kind.parse(hidden.texts) == nil { complain(declaration, hidden) }
        guard let value = parsed else {
            complain(declaration, entry)
            return setting.defaultValue
        }
        return value
    }

    /// Adds a problem about a setting whose value fits by itself but not with the others.
    mutating func complain<Value>(_ setting: Setting<Value>, _ sentence: String) {
        let origin = origin(of: setting)
        let place = origin == .standard ? setting.declaration.key : "\(origin): \(setting.declaration.key)"
        problems.append(SettingProblem(place: place, sentence: sentence))
    }

    /// Adds a problem about a setting that was read and is not its default.
    mutating func complainIfChanged(_ declaration: SettingDeclaration, _ sentence: String) {
        guard let found = resolutions.first(where: { $0.key == declaration.key }), !found.isStandard else { return }
        problems.append(SettingProblem(place: "\(found.origin): \(declaration.key)", sentence: sentence))
    }

    /// The text of the file that a setting names; a problem and `nil` when it cannot be read.
    mutating func readText(_ path: String, for setting: Setting<String?>) -> String? {
        do {
            return try surroundings.readText(path)
        } catch {
            complain(setting, "\(path) cannot be read: \(error)")
            return nil
        }
    }

    /// A problem when the file that a setting names cannot be read.
    mutating func requireReadable(_ path: String, for setting: Setting<String?>) {
        if !surroundings.isReadable(path) { complain(setting, "\(path) cannot be read") }
    }

    /// Hands the key back after a look at it; a problem when it is none.
    mutating func checkAPNsKey<Value>(_ key: SecretText, for setting: Setting<Value>) -> SecretText {
        if let sentence = surroundings.checkAPNsKey(key) { complain(setting, sentence) }
        return key
    }

    /// A problem when the file that a setting names is no list of certificates.
    mutating func checkTrustRoots(_ path: String, for setting: Setting<String?>) {
        guard let text = readText(path, for: setting), let sentence = surroundings.checkTrustRoots(text) else { return }
        complain(setting, "\(path): \(sentence)")
    }

    /// Where the value of a setting comes from.
    func origin<Value>(of setting: Setting<Value>) -> SettingOrigin {
        sources.lazy.compactMap { $0.entries[setting.declaration.key] }.first?.origin ?? .standard
    }

    private mutating func record(
        _ declaration: SettingDeclaration, texts: [String]?, origin: SettingOrigin, hidden: [SettingOrigin] = [],
        isStandard: Bool
    ) {
        // A secret is not even kept for a report: whoever dumps one must not see it.
        let shown = texts.map { declaration.isSecret ? ["(secret)"] : $0.map(Self.withoutCredentials) }
        resolutions.append(
            Resolution(
                key: declaration.key, texts: shown, origin: origin, isSecret: declaration.isSecret, hidden: hidden,
                isStandard: isStandard))
    }

    private mutating func complain(_ declaration: SettingDeclaration, _ entry: SettingSource.Entry) {
        let shown = declaration.isSecret ? "the value" : Self.quote(entry.texts)
        problems.append(
            SettingProblem(place: "\(entry.origin): \(declaration.key)", sentence: "\(shown) is not \(declaration.accepts)"))
    }

    /// Whoever puts a name and a password into an address that takes none must not find them in a log: neither before its host nor in a
    /// query.
    private static func withoutCredentials(_ text: String) -> String {
        let scheme = text.range(of: "://")
        let start = scheme?.upperBound ?? text.startIndex
        let end = (scheme == nil ? nil : text[start...].firstIndex(of: "?")) ?? text.endIndex
        let address = text[start..<end]
        var shown = String(address)
        if let host = address.lastIndex(of: "@"), scheme != nil || address[..<host].contains(":") {
            shown = "(secret)" + address[host...]
        }
        return text[..<start] + shown + (end == text.endIndex ? "" : "?(secret)")
    }

    /// The text as it was given, shortened, and without characters that could rewrite the terminal.
    private static func quote(_ texts: [String]) -> String {
        let text = texts.map(withoutCredentials).joined(separator: ", ")
        let plain = String(text.unicodeScalars.prefix(60).map { $0.value < 32 || $0.value == 127 ? "?" : Character($0) })
        return "\"\(plain)\(text.unicodeScalars.count > 60 ? "…" : "")\""
    }
}
