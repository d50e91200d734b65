import ArgumentParser
import ServerSettings

/// Finds the command that the words of a command line name.
enum CommandWords {
    /// The sentence about the first word that names no command, with the command that was probably meant. `nil` when every word
    /// that has to name a command does, so that the parser judges the rest.
    static func complaint(about arguments: [String], root: any ParsableCommand.Type) -> String? {
        let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        var command = root
        var path = [root._commandName]
        for word in words {
            let children = command.configuration.subcommands
            guard !word.hasPrefix("-"), !children.isEmpty, command.configuration.defaultSubcommand == nil else { return nil }
            guard let child = children.first(where: { $0._commandName == word }) else {
                // The parser's own.
                if word == "help", command == root { return nil }
                return sentence(word, among: children.filter { $0.configuration.shouldDisplay }.map { $0._commandName }, of: path)
            }
            command = child
            path.append(word)
        }
        return nil
    }

    private static func sentence(_ word: String, among names: [String], of path: [String]) -> String {
        let parent = path.joined(separator: " ")
        let meant = Spelling.nearest(to: word, among: names).map { "; did you mean '\(parent) \($0)'?" } ?? ""
        return "'\(word)' is not a command of \(parent)\(meant)\nSee '\(parent) --help'."
    }
}
