/// Where a value came from, in words that lead a person to it.
enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    case commandLine(String)
    case environment(String)
    case file(path: String, line: Int?)
    case standard

    var description: String {
        switch self {
        case .commandLine(let argument): "command line \(argument)"
        case .environment(let name): "environment \(name)"
        case .file(let path, let line): line.map { "\(path) line \($0)" } ?? path
        case .standard: "default"
        }
    }
}
