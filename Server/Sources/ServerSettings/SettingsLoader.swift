/// Reads the settings of a node: command line, then environment, then file, then defaults. Malformed and unknown words in any of
/// them are problems, and all problems come at once.
public struct SettingsLoader: Sendable {
    /// The file that is read when it exists and no other is named.
    public static let standardPath = "/etc/clarion/clarion.yaml"

    private let arguments: [String]
    private let environment: [String: String]
    private let path: String?
    private let surroundings: SettingsSurroundings

    /// Creates a loader.
    /// - Parameters:
    ///   - arguments: the settings on the command line, without the program's name and command.
    ///   - environment: all variables; those that begin with `CLARION_` are read.
    ///   - path: the file named on the command line; else `CLARION_CONFIG` names one, else `standardPath` is read if it exists.
    public init(arguments: [String], environment: [String: String], path: String?, surroundings: SettingsSurroundings) {
        self.arguments = arguments
        self.environment = environment
        self.path = path
        self.surroundings = surroundings
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
        let declarations = SettingCatalog.all
        let sources = [
            SettingSource(arguments: arguments, declarations: declarations),
            SettingSource(environment: environment, declarations: declarations, readText: surroundings.readText),
            fileSource(declarations),
        ]
        var resolver = SettingsResolver(sources: sources, surroundings: surroundings)
        let settings = Settings(from: &resolver)
        return Result(
            settings: resolver.problems.isEmpty ? settings : nil,
            report: SettingsReport(resolutions: resolver.resolutions, file: filePath), problems: resolver.problems)
    }

    /// The settings, or every problem in one error.
    public func load() throws(SettingsError) -> Settings {
        let result = read()
        guard let settings = result.settings else { throw SettingsError(problems: result.problems) }
        return settings
    }

    private var filePath: String? {
        if let named = path ?? environment[SettingSource.configVariable] { return named }
        return surroundings.isReadable(Self.standardPath) ? Self.standardPath : nil
    }

    private func fileSource(_ declarations: [SettingDeclaration]) -> SettingSource {
        guard let filePath else { return SettingSource() }
        do {
            return SettingSource(file: filePath, text: try surroundings.readText(filePath), declarations: declarations)
        } catch {
            var source = SettingSource()
            source.complain(.file(path: filePath, line: nil), "cannot be read: \(error)")
            return source
        }
    }
}
