import ServiceErrors

@testable import ServerSettings

/// Reads settings from texts in memory: no file system, no environment of the machine.
struct SettingsFixture {
    var arguments: [String] = []
    var environment: [String: String] = [:]
    /// The file of settings, if any.
    var file: String?
    /// Other files by path.
    var files: [String: String] = [:]
    var keyProblem: String?
    var trustRootsProblem: String?
    var certificateProblem: String?

    static let path = "clarion.yaml"

    struct Missing: Error, CustomStringConvertible { var description: String { "there is no such file" } }

    func read() -> SettingsLoader.Result {
        SettingsLoader(
            arguments: arguments, environment: environment, path: file == nil ? nil : Self.path, system: system
        ).read()
    }

    /// A machine with these files.
    var system: SettingsEnvironment {
        var files = files
        if let file { files[Self.path] = file }
        let all = files
        return SettingsEnvironment(
            readText: { path in
                guard let text = all[path] else { throw Missing() }
                return text
            },
            isReadable: { all[$0] != nil }, checkAPNsKey: { [keyProblem] _ in keyProblem },
            checkTrustRoots: { [trustRootsProblem] _ in trustRootsProblem },
            checkCertificate: { [certificateProblem] _, _ in certificateProblem })
    }

    var problems: [String] { read().problems.map(\.description) }
}
