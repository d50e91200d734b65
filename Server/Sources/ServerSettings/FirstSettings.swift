import WireText

/// The settings of a new node as the file that `clarion init` writes.
public struct FirstSettings: Sendable {
    /// The settings that the file and the environment give.
    public let settings: Settings
    /// The file, in YAML: one line for each setting that was given, in the order of the reference.
    public let text: String
    /// The variables of the environment that were read. They are not in the file, since a secret may be among them: the server needs them
    /// too.
    public let variables: [String]

    /// What a person answered to the question for a setting.
    public struct Answer: Hashable, Sendable {
        let key: String
        let question: String
        let text: String

        /// Creates an answer. A problem with it names the question.
        public init(for key: String, to question: String, _ text: String) {
            (self.key, self.question, self.text) = (key, question, text)
        }
    }

    /// Reads settings as the command line has them, `--key value`, answers for those that are not given there, and behind these the
    /// environment. Paths become absolute ones, seen from `directory`: the server may start elsewhere. `dataDirectory` holds where none is
    /// given. Throws every problem in one error.
    public init(
        arguments: [String], answers: [Answer] = [], environment: [String: String], directory: String, dataDirectory: String,
        system: SettingsEnvironment
    ) throws(SettingsError) {
        let declarations = SettingCatalog.all.map(\.declaration)
        var given = SettingSource(arguments: arguments, declarations: declarations)
        for answer in answers where given.entries[answer.key] == nil {
            given.entries[answer.key] = SettingSource.Entry(texts: [answer.text], origin: .answer(question: answer.question))
        }
        let ambient = SettingSource(environment: environment, declarations: declarations, readText: system.readText)
        for declaration in declarations where declaration.isPath {
            let texts = given.entries[declaration.key]?.texts ?? []
            given.entries[declaration.key]?.texts = texts.map {
                $0.isEmpty || $0.hasPrefix("/") || $0.hasPrefix("~") ? $0 : "\(directory)/\($0)"
            }
        }
        let key = SettingCatalog.standard.dataDirectory.declaration.key
        if given.entries[key] == nil, ambient.entries[key] == nil {
            given.entries[key] = SettingSource.Entry(texts: [dataDirectory], origin: .standard)
        }
        let resolver = SettingsResolver(sources: [given, ambient], system: system)
        guard resolver.problems.isEmpty else { throw SettingsError(problems: resolver.problems) }
        settings = resolver.settings
        variables = ambient.entries.values.compactMap {
            if case .environment(let name) = $0.origin { name } else { nil }
        }.sorted()
        let lines = declarations.compactMap { declaration in
            given.entries[declaration.key].map { Self.line(declaration, $0.texts) }
        }
        text = Self.header + lines.joined()
    }

    private static let header = """
        # Settings of this node, as clarion init wrote them. What is not here has its default:
        # clarion config reference --yaml prints every setting and explains it.

        """

    /// A JSON text is a YAML scalar in every case.
    private static func line(_ declaration: SettingDeclaration, _ texts: [String]) -> String {
        let values = texts.map(JSONText.string)
        return "\(declaration.key): \(declaration.isList ? "[\(values.joined(separator: ", "))]" : values.first ?? "\"\"")\n"
    }
}
