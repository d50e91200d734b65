import ArgumentParser
import CommandLineSupport
import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Show the public keys that a sealed send would be for.",
        discussion: """
            Compare the fingerprints with those that the apps show. With --json the output is a file for `clarion send --seal --keys`, \
            which seals for these keys alone, whatever the server says later.
            """)

    @OptionGroup var server: ServerArguments

    @Option(help: ArgumentHelp("Whose keys, with commas between the names. Without it your own.", valueName: "users"))
    var to: String?

    @Flag(help: "Print the keys themselves.")
    var json = false

    func run() async throws {
        try await server.client().use { client in
            let keys = try await client.sealingDirectory(users: to).keys
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
                print(String(decoding: try encoder.encode(keys), as: UTF8.self))
            } else if keys.isEmpty {
                Terminal.note("nobody of them is signed in with an app that opens sealed content")
            } else {
                let rows = keys.map { [$0.user, $0.installation.text, (try? SealingPublicKey($0.key).fingerprint) ?? "no key"] }
                print(TextTable(columns: ["user", "installation", "fingerprint"], rows: rows))
            }
        }
    }
}
