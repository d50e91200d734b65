/// The settings in writing, made from their declarations: the reference page and the commented example file.
///
/// Both stand in the repository; a test fails when they are not what this makes. `make reference` writes them.
public enum SettingsReference {
    /// The page `Documentation/Settings.md`.
    public static var page: String {
        let chapters = SettingCatalog.sections.map { section in
            "## \(section.title)\n\n" + section.settings.map { entry($0.declaration) }.joined(separator: "\n")
        }
        return introduction + "\n" + chapters.joined(separator: "\n") + "\n"
    }

    /// The file `Examples/clarion.yaml`: every setting with its explanation, commented out where that is its default.
    public static var exampleFile: String {
        let chapters = SettingCatalog.sections.map { section in
            "# --- \(section.title) ---\n\n" + section.settings.map { example($0.declaration) }.joined(separator: "\n")
        }
        return exampleHeader + "\n" + chapters.joined(separator: "\n")
    }

    /// The list at the end of a command's help: every flag on one line.
    public static var helpList: String {
        let declarations = SettingCatalog.all.map(\.declaration)
        let width = declarations.map(\.flag.count).max() ?? 0
        return declarations.filter { !$0.isSecret }.map { declaration in
            let padding = String(repeating: " ", count: width - declaration.flag.count)
            return "  \(declaration.flag)\(padding)  \(declaration.accepts)"
        }.joined(separator: "\n")
    }

    private static func entry(_ declaration: SettingDeclaration) -> String {
        let sources = [
            declaration.isSecret ? nil : "`\(declaration.flag)`", "`\(declaration.variable)`",
            declaration.fileVariable.map { "`\($0)`" },
        ].compactMap { $0 }.joined(separator: ", ")
        return """
            ### `\(declaration.key)`

            \(declaration.explanation)

            | | |
            | --- | --- |
            | Accepts | \(declaration.accepts) |
            | Default | \(declaration.defaultTexts.map(yaml).map { "`\($0)`" } ?? "none") |
            | Also | \(sources) |

            """
    }

    private static func yaml(_ texts: [String]) -> String {
        texts.count == 1 ? texts[0] : texts.isEmpty ? "[]" : texts.joined(separator: ", ")
    }

    private static func example(_ declaration: SettingDeclaration) -> String {
        let comment = wrap(declaration.explanation + " Accepts \(declaration.accepts).", width: 110)
            .map { "# \($0)" }.joined(separator: "\n")
        return comment + "\n" + exampleLine(declaration) + "\n"
    }

    private static func exampleLine(_ declaration: SettingDeclaration) -> String {
        guard let texts = declaration.defaultTexts else { return "# \(declaration.key):" }
        let quoted = texts.map { $0.contains(":") || $0.contains(" ") ? "\"\($0)\"" : $0 }
        let value = declaration.isList ? "[\(quoted.joined(separator: ", "))]" : quoted.joined()
        return "\(declaration.key): \(value)"
    }

    private static func wrap(_ text: String, width: Int) -> [String] {
        text.split(separator: " ").reduce(into: [""]) { lines, word in
            let last = lines.count - 1
            if lines[last].isEmpty {
                lines[last] = String(word)
            } else if lines[last].count + 1 + word.count <= width {
                lines[last] += " " + word
            } else {
                lines.append(String(word))
            }
        }
    }

    private static let introduction = """
        # Settings

        <!-- Made from Server/Sources/ServerSettings by `make reference`. A test compares; do not edit. -->

        Each setting has one name. `listen-port` is the word in the file, `--listen-port` on the command line and
        `CLARION_LISTEN_PORT` in the environment. The command line wins over the environment, the environment over the file,
        the file over the default. The file is the one that `--config` or `CLARION_CONFIG` names, else
        `\(SettingsLoader.standardPath)` if it exists; relative paths count from the working directory.

        A word that is not known and a value that does not fit stop the start, all of them in one list with the place of each.
        `clarion config check` reads without starting, `clarion config show` prints what holds and where it came from.

        Secrets are never shown and are refused on the command line, which every process can read. The variable that ends in
        `_FILE` names a file that holds the secret.

        """

    private static let exampleHeader = """
        # Settings of `clarion serve`: every key with its default and the reason to change it.
        # Made by `make reference`. Documentation/Settings.md is the same as a page; `clarion config check` reads this file.
        # The command line (--listen-port 80) and the environment (CLARION_LISTEN_PORT=80) win over this file.
        # A key that is not known and a value that does not fit stop the start.

        """
}
