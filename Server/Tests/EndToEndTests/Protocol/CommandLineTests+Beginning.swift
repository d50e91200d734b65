import Foundation
import Testing

/// The beginning of a node, and commands where none is.
extension CommandLineTests {
    /// `clarion init` in a folder, whose settings are `clarion.yaml` and whose data lie in `data`.
    static func begin(
        in folder: String, password: String = "correct horse battery", _ options: String = "--administrator ops"
    ) async throws -> Answer {
        let place = "--config \(folder)/clarion.yaml --data-directory \(folder)/data"
        return try await shell("echo '\(password)' | $CLARION init \(place) \(options)")
    }

    @Test(
        "what does not fit at the beginning of a node is said before anything is written",
        arguments: [
            ("short", "--administrator ops", 1, "clarion: password: it has at least 12 characters"),
            ("short", "--administrator ops --minimum-password-length 20", 1, "at least 20 characters"),
            ("correct horse battery", "--administrator @ops", 64, "clarion: --administrator: the name of a user"),
            ("correct horse battery", "--administrator ops --key 'a b'", 64, "clarion: --key: "),
            ("correct horse battery", "--administrator ops --public-url here", 78, "command line --public-url: public-url"),
            ("", "--administrator ops", 64, "clarion: no password was given"),
        ] as [(String, String, Int32, String)])
    func unfitBeginning(password: String, options: String, status: Int32, words: String) async throws {
        try await TemporaryFolder.use { folder in
            let refused = try await Self.begin(in: folder, password: password, options)
            #expect(refused.status == status, "\(refused.text)")
            #expect(refused.text.contains(words), "\(refused.text)")
            #expect(!FileManager.default.fileExists(atPath: folder + "/data"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/clarion.yaml"))
        }
    }

    @Test(
        "a command where no node has been says so and what begins one, and makes nothing",
        arguments: [
            "key create shop --scope send", "key list", "user add ann", "user list", "hub create news", "hub list",
            "console link ann", "audit list", "audit verify", "database upgrade", "content adopt",
        ])
    func noNode(words: String) async throws {
        try await TemporaryFolder.use { folder in
            let answer = try await Self.shell("$CLARION \(words) --data-directory \(folder)/data")
            #expect(answer.status == 1)
            let place = "clarion: there is no node in \(folder)/data; is data-directory right?"
            #expect(answer.text == place + " `clarion init` begins one, and so does `clarion serve`\n")
            #expect(!FileManager.default.fileExists(atPath: folder + "/data"))
        }
    }

    @Test(
        "a mistake in the words begins as every other problem does, and is followed by the usage",
        arguments: [
            ("user list --colour", "clarion: Unknown option '--colour'"), ("hub show", "clarion: Missing expected argument"),
        ])
    func style(words: String, beginning: String) async throws {
        let answer = try await Self.shell("$CLARION \(words)")
        #expect(answer.status == 64)
        #expect(answer.text.hasPrefix(beginning), "\(answer.text)")
        #expect(answer.text.contains("Usage: clarion "), "\(answer.text)")
    }
}
