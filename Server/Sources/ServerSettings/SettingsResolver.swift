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
    let system: SettingsEnvironment
    private(set) var problems: [SettingProblem]
    private(set) var resolutions: [Resolution] = []
    /// The values read so far. One that does not fit leaves a problem and counts as its default.
    var settings = Settings()

    /// Reads every setting, then compares them with each other.
    init(sources: [SettingSource], system: SettingsEnvironment) {
        self.sources = sources
        self.system = system
        problems = sources.flatMap(\.problems)
        for setting in SettingCatalog.all { setting.read(by: &self) }
        checkContentStore()
        checkStorage()
        checkListening()
        checkMetrics()
        requireDistinctPorts()
        checkAPNs()
        checkWebPush()
        checkFCM()
        checkNotifications()
        checkRemoteHub()
        checkTrustedIssuers()
        checkConsoleProvider()
    }

    /// Stores the value of a setting; its default, and one problem more, when the winning text does not fit.
    mutating func read<Value>(_ setting: Setting<Value>) {
        let declaration = setting.declaration
        let entries = sources.compactMap { $0.entries[declaration.key] }
        guard let entry = entries.first else {
            record(declaration, texts: declaration.defaultTexts, origin: .standard, isStandard: true)
            return settings.store(setting.defaultValue, for: setting)
        }
        let parsed = setting.kind.parse(entry.texts)
        record(
            declaration, texts: entry.texts, origin: entry.origin, hidden: entries.dropFirst().map(\.origin),
            isStandard: parsed.map { setting.kind.format($0) == declaration.defaultTexts } ?? false)
        // A text of lower rank that does not fit is a mistake as well; it would take effect when the text above it is removed.
        for hidden in entries.dropFirst() where setting.kind.parse(hidden.texts) == nil { complain(declaration, hidden) }
        if parsed == nil { complain(declaration, entry) }
        settings.store(parsed ?? setting.defaultValue, for: setting)
    }

    /// Adds a problem about a setting whose value fits by itself but not with the others.
    mutating func complain<Value>(_ setting: KeyPath<SettingCatalog, Setting<Value>>, _ sentence: String) {
        problems.append(SettingProblem(place: place(of: setting), sentence: sentence))
    }

    /// Where the value of a setting stands, and its name.
    func place<Value>(of setting: KeyPath<SettingCatalog, Setting<Value>>) -> String {
        let key = SettingCatalog.standard[keyPath: setting].declaration.key
        let origin = sources.lazy.compactMap { $0.entries[key] }.first?.origin
        return origin.map { "\($0): \(key)" } ?? key
    }

    /// Adds problems that know their places.
    mutating func add(_ found: [SettingProblem]) { problems += found }

    /// Adds a problem about a setting that was read and is not its default.
    mutating func complainIfChanged(_ declaration: SettingDeclaration, _ sentence: String) {
        guard let found = resolutions.first(where: { $0.key == declaration.key }), !found.isStandard else { return }
        problems.append(SettingProblem(place: "\(found.origin): \(declaration.key)", sentence: sentence))
    }

    /// The text of the file that a setting names, if it names one; a problem and `nil` when it cannot be read.
    mutating func readText(of setting: KeyPath<SettingCatalog, Setting<String?>>) -> String? {
        guard let path = settings[dynamicMember: setting] else { return nil }
        do {
            return try system.readText(path)
        } catch {
            complain(setting, "\(path) cannot be read: \(error)")
            return nil
        }
    }

    /// A problem when the file that a setting names cannot be read.
    mutating func requireReadable(_ setting: KeyPath<SettingCatalog, Setting<String?>>) {
        guard let path = settings[dynamicMember: setting], !system.isReadable(path) else { return }
        complain(setting, "\(path) cannot be read")
    }

    /// A problem when the text is no signing key.
    mutating func checkAPNsKey<Value>(_ key: SecretText, for setting: KeyPath<SettingCatalog, Setting<Value>>) {
        if let sentence = system.checkAPNsKey(key) { complain(setting, sentence) }
    }

    /// A problem when the file that a setting names is no list of certificates.
    mutating func checkTrustRoots(_ setting: KeyPath<SettingCatalog, Setting<String?>>) {
        guard let path = settings[dynamicMember: setting], let text = readText(of: setting),
            let sentence = system.checkTrustRoots(text)
        else { return }
        complain(setting, "\(path): \(sentence)")
    }

    /// A problem when the HTTPS interface cannot use the files that two settings name.
    mutating func checkCertificate(
        _ certificate: KeyPath<SettingCatalog, Setting<String?>>, key: KeyPath<SettingCatalog, Setting<String?>>
    ) {
        let (chainText, keyText) = (readText(of: certificate), readText(of: key))
        guard let chainText, let keyText, let sentence = system.checkCertificate(chainText, keyText) else { return }
        let paths = [certificate, key].compactMap { settings[dynamicMember: $0] }
        complain(certificate, "\(paths.joined(separator: " and ")): \(sentence)")
    }

    private mutating func record(
        _ declaration: SettingDeclaration, texts: [String]?, origin: SettingOrigin, hidden: [SettingOrigin] = [],
        isStandard: Bool
    ) {
        // A secret is not kept for a report: a dump of the report must not show it.
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

    /// Removes a name and a password from an address that takes none, before the host and in the query, so that they reach no log.
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
