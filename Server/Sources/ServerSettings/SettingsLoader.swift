import AppBackend

/// Reads the settings of a node: command line, then environment, then file, then defaults. Malformed and unknown settings in any of
/// them are problems, and all problems come at once.
public struct SettingsLoader: Sendable {
    /// The file that is read when it exists and no other is named.
    public static let standardPath = "/etc/clarion/clarion.yaml"

    private let arguments: [String]
    private let environment: [String: String]
    private let path: String?
    private let system: SettingsEnvironment

    /// Creates a loader.
    /// - Parameters:
    ///   - arguments: the settings on the command line, without the program's name and command.
    ///   - environment: all variables; those that begin with `CLARION_` are read.
    ///   - path: the file named on the command line; else `CLARION_CONFIG` names one, else `standardPath` is read if it exists.
    public init(arguments: [String], environment: [String: String], path: String?, system: SettingsEnvironment) {
        self.arguments = arguments
        self.environment = environment
        self.path = path
        self.system = system
    }

    /// What was found.
    public struct Result: Sendable {
        /// The settings; absent when there is a problem.
        public var settings: Settings?
        /// Each value and where it came from.
        public var report: SettingsReport
        public var problems: [SettingProblem]
    }

    /// Reads everything, and says everything that is wrong.
    public func read() -> Result {
        let declarations = SettingCatalog.all.map(\.declaration)
        let sources = [
            SettingSource(arguments: arguments, declarations: declarations),
            SettingSource(environment: environment, declarations: declarations, readText: system.readText),
            fileSource(declarations),
        ]
        let resolver = SettingsResolver(sources: sources, system: system)
        let report = SettingsReport(resolutions: resolver.resolutions, file: filePath)
        var settings = resolver.settings
        settings.report = report
        return Result(
            settings: resolver.problems.isEmpty ? settings : nil, report: report, problems: resolver.problems)
    }

    /// The settings, or every problem in one error.
    public func load() throws(SettingsError) -> Settings {
        let result = read()
        guard let settings = result.settings else { throw SettingsError(problems: result.problems) }
        return settings
    }

    private var filePath: String? {
        if let named = path ?? environment[SettingSource.configVariable] { return named }
        return system.isReadable(Self.standardPath) ? Self.standardPath : nil
    }

    private func fileSource(_ declarations: [SettingDeclaration]) -> SettingSource {
        guard let filePath else { return SettingSource() }
        do {
            return SettingSource(file: filePath, text: try system.readText(filePath), declarations: declarations)
        } catch {
            var source = SettingSource()
            source.complain(.file(path: filePath, line: nil), "cannot be read: \(error)")
            return source
        }
    }
}

/// One thing that is wrong with the settings: where it stands and what to do about it. Never shows a secret.
public struct SettingProblem: Hashable, Sendable, CustomStringConvertible {
    /// The flag, the variable, or the file and line.
    public let place: String
    /// What is wrong, as a sentence.
    public let sentence: String

    public var description: String { "\(place): \(sentence)" }
}

/// Everything that is wrong with the settings, in one list, so that they can be fixed together.
public struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [SettingProblem]

    /// Creates the error; there is at least one problem.
    public init(problems: [SettingProblem]) { self.problems = problems }

    public var description: String {
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
        return "the settings have \(count)\n" + problems.map { "  - \($0)" }.joined(separator: "\n")
    }
}

/// What holds and why: each setting with its value and the place it came from. Secrets are shown as `(secret)`.
public struct SettingsReport: Sendable, CustomStringConvertible {
    let resolutions: [SettingsResolver.Resolution]
    /// The file that was read, if any.
    package let file: String?

    /// A human-readable table: setting, value, origin.
    public var description: String {
        let rows = resolutions.map { (key: $0.key, value: Self.show($0), place: Self.place($0)) }
        let keyWidth = rows.map(\.key.count).max() ?? 0
        let valueWidth = min(rows.map(\.value.count).max() ?? 0, 40)
        let lines = rows.map { row in
            "\(Self.pad(row.key, keyWidth))  \(Self.pad(row.value, valueWidth))  \(row.place)"
        }
        return (["file: \(file ?? "none")", ""] + lines).joined(separator: "\n")
    }

    private static func show(_ resolution: SettingsResolver.Resolution) -> String {
        guard let texts = resolution.texts else { return "-" }
        if resolution.isSecret { return SecretText("").description }
        return texts.isEmpty ? "(empty list)" : texts.joined(separator: ", ")
    }

    private static func place(_ resolution: SettingsResolver.Resolution) -> String {
        guard !resolution.hidden.isEmpty else { return resolution.origin.description }
        return "\(resolution.origin), over \(resolution.hidden.map(\.description).joined(separator: " and "))"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension SettingsReport {
    /// How many settings have another value than their default. A default that is written out is none of them.
    package var changedCount: Int { resolutions.count { !$0.isStandard } }

    /// What administrators see of it.
    package var nodeSettings: NodeSettings {
        let known = Dictionary(uniqueKeysWithValues: resolutions.map { ($0.key, $0) })
        let entries = SettingCatalog.sections.flatMap { section in
            section.settings.map(\.declaration).compactMap { declaration in
                known[declaration.key].map { each in
                    NodeSettings.Entry(
                        name: each.key, section: section.title, value: Self.shown(each), origin: each.origin.description,
                        overrides: each.hidden.map(\.description), isDefault: each.isStandard, meaning: declaration.explanation)
                }
            }
        }
        return NodeSettings(file: file, settings: entries)
    }

    private static func shown(_ resolution: SettingsResolver.Resolution) -> [String]? {
        resolution.isSecret ? resolution.texts.map { _ in [SecretText("").description] } : resolution.texts
    }
}

extension SettingsReport: Encodable {
    private struct Entry: Encodable {
        var name: String
        /// Absent when there is no value.
        var value: [String]?
        var origin: String
        /// Sources of lower rank that name the setting too.
        var overrides: [String]
        var isDefault: Bool
    }

    private enum CodingKeys: String, CodingKey { case file, settings }

    /// Writes `file` and `settings`. The value of a secret is `(secret)`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(file, forKey: .file)
        let entries = resolutions.map { each in
            Entry(
                name: each.key, value: Self.shown(each), origin: each.origin.description,
                overrides: each.hidden.map(\.description), isDefault: each.isStandard)
        }
        try container.encode(entries, forKey: .settings)
    }
}
