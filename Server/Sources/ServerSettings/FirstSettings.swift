import WireText

/// The settings of a new node as the file that `clarion init` writes.
public struct FirstSettings: Sendable {
    /// The settings that the file gives.
    public let settings: Settings
    /// The file, in YAML: one line for each setting that was given, in the order of the reference.
    public let text: String

    /// Reads settings as the command line has them, `--key value`. Throws every problem in one error.
    public init(arguments: [String], system: SettingsEnvironment) throws(SettingsError) {
        let declarations = SettingCatalog.all.map(\.declaration)
        let source = SettingSource(arguments: arguments, declarations: declarations)
        let resolver = SettingsResolver(sources: [source], system: system)
        guard resolver.problems.isEmpty else { throw SettingsError(problems: resolver.problems) }
        settings = resolver.settings
        let lines = declarations.compactMap { declaration in
            source.entries[declaration.key].map { Self.line(declaration, $0.texts) }
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
