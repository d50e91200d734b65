import ArgumentParser
import CommandLineSupport
import ServerOperations
import ServerSettings

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which node's data a command works on.
struct NodeArguments: ParsableArguments {
    @Option(name: .customLong("config"), help: "The file of settings.")
    var path: String?

    @Option(help: "The node's data, if not where the settings say.")
    var dataDirectory: String?

    /// The users of that node.
    func users() throws -> UserAdministration { UserAdministration(settings: try settings()) }

    /// The settings of that node.
    func settings() throws -> Settings {
        let override = dataDirectory.map { ["--data-directory", $0] } ?? []
        let arguments = try SettingsArguments.parse(override + (path.map { ["--config", $0] } ?? []))
        return try arguments.load()
    }

    /// Does what may begin a node, and says so where it did, even if it came to nothing else: the directory may be a mistyped one.
    func beginning(_ work: (Settings) async throws -> Void) async throws {
        let settings = try self.settings()
        let file = settings.dataDirectory + "/clarion.sqlite"
        let mayBegin = settings.database == nil && !FileManager.default.fileExists(atPath: file)
        defer {
            if mayBegin, FileManager.default.fileExists(atPath: file) {
                Terminal.note("A new node was begun in \(settings.dataDirectory)")
            }
        }
        try await work(settings)
    }
}
