import ClarionTesting
import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@testable import ServerSettings

/// What a user or a script meets at the command line, with the real program.
@Suite("The command line")
struct CommandLineTests {
    struct Answer {
        var status: Int32
        /// Standard output and standard error.
        var text: String
    }

    /// Runs a line of the shell, in which `$CLARION` is the program. Standard input is empty unless the line says otherwise.
    static func shell(_ line: String, _ environment: [String: String] = [:]) async throws -> Answer {
        try await TemporaryFolder.use { folder in
            let output = folder + "/output"
            var command = ChildProcess.Command("/bin/sh", ["-c", "exec </dev/null; \(line)"], output: output)
            command.environment = ProcessInfo.processInfo.environment.merging(["CLARION": ServerProcess.program]) { _, own in own
            }
            .merging(environment) { _, given in given }
            let status = try await ChildProcess(command).exitStatus()
            return Answer(status: status, text: try String(contentsOfFile: output, encoding: .utf8))
        }
    }

    private static func json<Value: Decodable>(_ answer: Answer, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(answer.text.utf8))
    }

    @Test(
        "a mistyped command is refused with the one that was probably meant",
        arguments: [
            ("sned --message x", "'sned' is not a command of clarion; did you mean 'clarion send'?"),
            ("user lst", "'lst' is not a command of clarion user; did you mean 'clarion user list'?"),
            ("help bogus", "'bogus' is not a command of clarion"), ("help user lst", "did you mean 'clarion user list'?"),
            ("help send bogus", "'bogus' is not a command of clarion send"),
            ("help emulator bogus", "'bogus' is not a command of clarion emulator"),
            ("emulator certificat", "did you mean 'clarion emulator certificate'?"),
        ])
    func mistyped(line: String, words: String) async throws {
        let answer = try await Self.shell("$CLARION " + line)
        #expect(answer.status == 64)
        #expect(answer.text.contains(words), "\(answer.text)")
    }

    @Test(
        "help of a command that exists succeeds, also of one that is handed over to the lab",
        arguments: ["help", "help send", "help user list", "emulator --help", "help demo", "help emulator run"])
    func help(line: String) async throws {
        let answer = try await Self.shell("$CLARION " + line)
        #expect(answer.status == 0)
        #expect(answer.text.contains("USAGE: clarion"), "\(answer.text)")
    }

    @Test("the commands of the lab are listed, each with the program that it needs", arguments: ["demo", "emulator", "phone"])
    func listed(command: String) async throws {
        let lines = try await Self.shell("$CLARION --help").text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("  \(command) ") })
        #expect(lines.count { $0.contains("clarion-lab") } == 3)
    }

    @Test("a command that is handed over ends with the code and the text of the lab, and usage names what was typed")
    func handedOver() async throws {
        try await TemporaryFolder.use { folder in
            // By a symbolic link too: the lab lies beside the program itself.
            let answer = try await Self.shell("ln -s $CLARION \(folder)/clarion && \(folder)/clarion emulator --port 99999")
            #expect(answer.status == 64)
            #expect(answer.text.contains("a port is a number from 0 to 65535"), "\(answer.text)")
            #expect(answer.text.contains("Usage: clarion emulator"), "\(answer.text)")
        }
    }

    @Test("without clarion-lab its commands name the file that is missing, and the others work")
    func withoutLab() async throws {
        try await TemporaryFolder.use { folder in
            let program = "(ln $CLARION \(folder)/clarion 2>/dev/null || cp $CLARION \(folder)/clarion) && \(folder)/clarion"
            let answer = try await Self.shell(program + " demo --port 0")
            #expect(answer.status == 69)
            #expect(answer.text.contains("`clarion demo` needs the program clarion-lab"), "\(answer.text)")
            #expect(answer.text.contains("there is no \(folder)/clarion-lab"), "\(answer.text)")
            #expect(try await Self.shell("\(folder)/clarion --version").status == 0)
        }
    }

    @Test("completion scripts are printed for three shells", arguments: ["bash", "zsh", "fish"])
    func completion(shell: String) async throws {
        let answer = try await Self.shell("$CLARION --generate-completion-script \(shell)")
        #expect(answer.status == 0)
        #expect(answer.text.contains("recall"), "the newest command is completed too")
    }

    private struct Setting: Decodable {
        var name: String
        var value: [String]?
        var origin: String
        var isDefault: Bool
    }

    private struct Report: Decodable { var settings: [Setting] }

    @Test("config show prints JSON without secrets, and each value with its origin")
    func config() async throws {
        let environment = ["CLARION_S3_SECRET": "hidden", "CLARION_LISTEN_PORT": "1234"]
        let answer = try await Self.shell("$CLARION config show --json 2>/dev/null", environment)
        let settings = try Self.json(answer, as: Report.self).settings
        let port = try #require(settings.first { $0.name == "listen-port" })
        #expect(port.value == ["1234"])
        #expect(port.origin == "environment CLARION_LISTEN_PORT")
        #expect(!port.isDefault)
        #expect(settings.first { $0.name == "s3-secret" }?.value == ["(secret)"])
        #expect(!answer.text.contains("hidden"))
    }

    private struct Check: Decodable {
        var name: String
        var verdict: String
        var found: String
    }

    @Test("doctor prints JSON with a verdict for each check")
    func doctor() async throws {
        try await TemporaryFolder.use { folder in
            let answer = try await Self.shell("$CLARION doctor --json --data-directory \(folder)/data 2>/dev/null")
            let checks = try Self.json(answer, as: [Check].self)
            #expect(checks.count > 3)
            #expect(checks.allSatisfy { ["good", "notice", "bad"].contains($0.verdict) && !$0.found.isEmpty })
            #expect(answer.status == (checks.contains { $0.verdict == "bad" } ? 1 : 0))
        }
    }

    private struct User: Decodable, Hashable {
        var name: String
        var role: String
    }

    @Test("users are listed as JSON, and one is removed without a terminal only with --yes")
    func users() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let node = "--data-directory \(stage.serverDirectory)"
            let list = try await Self.shell("$CLARION user list --json \(node)")
            #expect(try Self.json(list, as: [User].self).contains { $0.name == "alice" })
            let asked = try await Self.shell("echo y | $CLARION user remove alice \(node)")
            #expect(asked.status == 64)
            #expect(asked.text.contains("add --yes to remove alice"), "\(asked.text)")
            #expect(try await Self.shell("$CLARION user list \(node)").text.contains("alice"))
            let removed = try await Self.shell("$CLARION user remove alice --yes \(node)")
            #expect(removed.status == 0, "\(removed.text)")
            #expect(try await !Self.shell("$CLARION user list \(node)").text.contains("alice"))
        }
    }

    @Test("on a terminal a user is removed only after a yes to a question that names them and their devices")
    func removalIsAsked() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let node = "--data-directory \(stage.serverDirectory)"
            let terminal = try PseudoTerminal()
            for (answer, status) in [("n", Int32(64)), ("y", 0)] {
                try terminal.type(answer + "\n")
                let asked = try await Self.shell("$CLARION user remove alice \(node) <\(terminal.path)")
                #expect(asked.status == status, "\(asked.text)")
                #expect(asked.text.contains("Remove alice and 1 device? [y/N]"), "\(asked.text)")
                let isListed = try await Self.shell("$CLARION user list \(node)").text.contains("alice")
                #expect(isListed == (status != 0))
            }
        }
    }

    @Test("a backup, a check and a compaction print their result alone where their progress is shown elsewhere")
    func results() async throws {
        try await Stage.open { stage in
            try await TemporaryFolder.use { folder in
                let node = "--data-directory \(stage.serverDirectory)"
                let copy = folder + "/copy.sqlite"
                let backup = try await Self.shell("$CLARION database backup \(node) \(copy) 2>/dev/null")
                #expect(backup.text == "\(copy) is complete\n")
                let check = try await Self.shell("$CLARION database check \(node) \(copy) 2>/dev/null")
                #expect(check.text == "\(copy) has no damage\n")
                let compaction = try await Self.shell("$CLARION database compact \(node) 2>/dev/null")
                #expect(compaction.text.contains(" bytes were given back; the file has "), "\(compaction.text)")
                #expect(compaction.text.split(separator: "\n").count == 1, "\(compaction.text)")
            }
        }
    }

    private struct HubSent: Decodable {
        var trackingId: String?
        var state: String?
        var outcomes: [String: Int]?
    }

    @Test("a send through a hub prints its tracking id, and with --wait its end and the outcomes, as one JSON value")
    func sendThroughHub() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let environment = ["CLARION_HUB": try await stage.connection().text]
            let hub = "--hub - --hub-name \(stage.hubName) --everyone"
            let answer = try await Self.shell("$CLARION send \(hub) --message hello --json --wait 2>/dev/null", environment)
            let sent = try Self.json(answer, as: HubSent.self)
            #expect(answer.status == 0)
            #expect(sent.trackingId?.isEmpty == false)
            #expect(sent.state == "Completed" && sent.outcomes?["Success"] == 1, "\(answer.text)")
        }
    }

    private struct Sent: Decodable {
        var id: String
        var trackingId: String
        var readableBy: String
        var status: SendStatus?
    }

    private struct Recalled: Decodable, Equatable {
        var id: String
        var recalled: Bool
    }

    @Test("a picture from standard input is sent, shown and recalled, all as JSON")
    func sendStatusRecall() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let environment = ["CLARION_SERVER_URL": stage.address, "CLARION_USER": "alice", "CLARION_PASSWORD": "alice"]
            let picture = try await TemporaryFolder.use { folder in
                let path = folder + "/picture"
                try Picture.random(side: 32).write(to: URL(filePath: path))
                return try await Self.shell(
                    "cat \(path) | $CLARION send --message hello --picture - --json --wait 2>/dev/null", environment)
            }
            let sent = try Self.json(picture, as: Sent.self)
            #expect(sent.status?.state == "completed")
            #expect(!sent.trackingId.isEmpty)
            #expect(!sent.readableBy.isEmpty)
            let status = try await Self.shell("$CLARION status \(sent.id) --json", environment)
            #expect(try Self.json(status, as: SendStatus.self).outcomes["accepted"] == 1, "\(status.text)")
            let listed = try await Self.shell("$CLARION sends --json --limit 1", environment)
            let sends = try Self.json(listed, as: [SendListEntry].self)
            #expect(sends.map { "\($0.id)" } == [sent.id] && sends.first?.status?.outcomes["accepted"] == 1, "\(listed.text)")
            let table = try await Self.shell("$CLARION sends", environment)
            #expect(table.text.hasPrefix("ID") && table.text.contains("completed"), "\(table.text)")
            for words in [
                "sends --limit 0", "sends --since yesterday", "sends --since 2026-03-01 --before 1", "status 1 --limit 0",
            ] {
                #expect(try await Self.shell("$CLARION \(words)", environment).status == 64, "\(words)")
            }
            let span = try await Self.shell(
                "$CLARION sends --sender alice --since 2001-01-01 --until 9999-01-01 --json", environment)
            #expect(try Self.json(span, as: [SendListEntry].self).map { "\($0.id)" } == [sent.id], "\(span.text)")
            let future = try await Self.shell("$CLARION sends --since 9999-01-01T00:00:00Z --json", environment)
            #expect(try Self.json(future, as: [SendListEntry].self).isEmpty, "\(future.text)")
            let recalled = try await Self.shell("$CLARION recall \(sent.id) --json", environment)
            #expect(recalled.status == 0)
            #expect(try Self.json(recalled, as: Recalled.self) == Recalled(id: sent.id, recalled: true))
            let again = try await Self.shell("$CLARION recall \(sent.id)", environment)
            #expect(again.status == 1)
            #expect(again.text.contains("not-found"), "\(again.text)")
        }
    }

    private struct Key: Decodable {
        var id: Int64
        var key: String?
    }

    private struct Revoked: Decodable, Equatable {
        var id: Int64
        var revoked: Bool
    }

    @Test("each list takes its largest limit", arguments: ["sends", "schedules list", "activity list"])
    func largestLimits(words: String) async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let environment = ["CLARION_SERVER_URL": stage.address, "CLARION_USER": "alice", "CLARION_PASSWORD": "alice"]
            let listed = try await Self.shell("$CLARION \(words) --limit 1000", environment)
            #expect(listed.status == 0, "\(listed.text)")
        }
    }

    @Test("a Live Activity is started, changed, ended and listed")
    func activity() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let environment = ["CLARION_SERVER_URL": stage.address, "CLARION_USER": "alice", "CLARION_PASSWORD": "alice"]
            let started = try await Self.shell(
                #"$CLARION activity start Trip --state '{"gate": "A1"}' --title Trip --body 'Gate A1' 2>/dev/null"#, environment)
            let id = try #require(Int64(started.text.dropLast()), "\(started.text)")
            let change = #"$CLARION activity update \#(id) --state '{"gate": "B2"}'"#
            let changed = try await Self.shell(change, environment)
            #expect(changed.status == 0 && changed.text == "changed \(id), revision 2\n", "\(changed.text)")
            let repeated = try await Self.shell(change + " --json", environment)
            #expect(try Self.json(repeated, as: ActivityStatus.self).revision == 3, "\(repeated.text)")
            let ended = try await Self.shell("$CLARION activity end \(id)", environment)
            #expect(ended.status == 0, "\(ended.text)")
            let shown = try Self.json(try await Self.shell("$CLARION activity show \(id)", environment), as: ActivityStatus.self)
            #expect(shown.phase == "ended" && shown.state == .object(["gate": .text("B2")]))
            let listed = try await Self.shell("$CLARION activity list --json", environment)
            #expect(try Self.json(listed, as: [ActivityStatus].self).map(\.id) == [id], "\(listed.text)")
            let wrong = try await Self.shell("$CLARION activity start Trip --state '[]' --title Trip --body x", environment)
            #expect(wrong.status == 64 && wrong.text.contains("--state"), "\(wrong.text)")
        }
    }

    @Test("a change of a Live Activity keeps the moment from which it is out of date, unless it names another or none")
    func staleMoment() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let environment = ["CLARION_SERVER_URL": stage.address, "CLARION_USER": "alice", "CLARION_PASSWORD": "alice"]
            let moment = Timestamp(seconds: Int64(Date.now.timeIntervalSince1970) + 3600)
            let started = try await Self.shell(
                #"$CLARION activity start Trip --state '{}' --title Trip --body x --stale-at \#(moment.milliseconds) --json"#,
                environment)
            let id = try Self.json(started, as: ActivityStatus.self).id
            func staleAt(after options: String) async throws -> Timestamp? {
                let changed = try await Self.shell("$CLARION activity update \(id) --state '{}' \(options)", environment)
                #expect(changed.status == 0, "\(changed.text)")
                let shown = try await Self.shell("$CLARION activity show \(id)", environment)
                return try Self.json(shown, as: ActivityStatus.self).staleAt
            }
            #expect(try await staleAt(after: "") == moment)
            #expect(try await staleAt(after: "--stale-at \((moment + .seconds(60)).milliseconds)") == moment + .seconds(60))
            #expect(try await staleAt(after: "--stale-at never") == nil)
            #expect(try await staleAt(after: "") == nil)
        }
    }

    @Test("an exported service key sends, follows and recalls without a password, until it is revoked")
    func serviceKey() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let node = "--data-directory \(stage.serverDirectory)"
            let made = try await Self.shell("$CLARION key create shop --scope send --json \(node) 2>/dev/null")
            let key = try Self.json(made, as: Key.self)
            // The user is exported too, as for other calls: the key comes first.
            let environment = [
                "CLARION_SERVER_URL": stage.address, "CLARION_KEY": try #require(key.key), "CLARION_USER": "alice",
            ]
            let send = "send --audience username:alice --message hello --file -"
            let sent = try Self.json(
                try await Self.shell("echo x | $CLARION \(send) --json --wait 2>/dev/null", environment), as: Sent.self)
            #expect(sent.status?.outcomes["accepted"] == 1)
            let status = try await Self.shell("$CLARION status \(sent.id) --json", environment)
            #expect(try Self.json(status, as: SendStatus.self).state == "completed", "\(status.text)")
            let listed = try await Self.shell("$CLARION sends --json", environment)
            let sends = try Self.json(listed, as: [SendListEntry].self)
            #expect(sends.map { "\($0.id) \($0.sender)" } == ["\(sent.id) @shop"], "\(listed.text)")
            let recalled = try await Self.shell("$CLARION recall \(sent.id) --json", environment)
            #expect(try Self.json(recalled, as: Recalled.self) == Recalled(id: sent.id, recalled: true), "\(recalled.text)")
            let revoked = try await Self.shell("$CLARION key revoke \(key.id) --json \(node) 2>/dev/null")
            #expect(try Self.json(revoked, as: Revoked.self) == Revoked(id: key.id, revoked: true), "\(revoked.text)")
        }
    }

    @Test("an explanation of what does not exist says so, and ends with 1")
    func unknownExplanation() async throws {
        try await Stage.open { stage in
            let node = "--data-directory \(stage.serverDirectory)"
            let made = try await Self.shell("$CLARION key create watch --scope status --json \(node) 2>/dev/null")
            let key = try #require(try Self.json(made, as: Key.self).key)
            let environment = ["CLARION_SERVER_URL": stage.address, "CLARION_KEY": key]
            for words in ["explain 999 zoe", "activity explain 999 zoe", "activity explain 999 zoe --json"] {
                let answer = try await Self.shell("$CLARION \(words)", environment)
                #expect(answer.status == 1, "\(words)")
                #expect(answer.text.contains("There is no user"), "\(answer.text)")
            }
        }
    }

    private struct Hub: Decodable {
        var name: String
        var id: Int64
    }

    private struct RemovedHub: Decodable, Equatable {
        var name: String
        var removed: Bool
    }

    @Test("a hub that is created and removed is printed as JSON")
    func hubs() async throws {
        try await TemporaryFolder.use { folder in
            let node = "--data-directory \(folder)/data"
            let begun = try await Self.begin(in: folder)
            #expect(begun.status == 0, "\(begun.text)")
            let created = try await Self.shell("$CLARION hub create news --json \(node) 2>/dev/null")
            let hub = try Self.json(created, as: Hub.self)
            #expect(hub.name == "news" && hub.id > 0, "\(created.text)")
            let removed = try await Self.shell("$CLARION hub delete news --yes --json \(node) 2>/dev/null")
            #expect(try Self.json(removed, as: RemovedHub.self) == RemovedHub(name: "news", removed: true), "\(removed.text)")
        }
    }

    @Test("a content from standard input needs the key or the password elsewhere, and a user who is named needs the password")
    func passwordElsewhere() async throws {
        let environment = ["CLARION_KEY": "clk_none"]
        let answer = try await Self.shell("echo x | $CLARION send --user alice --message hello --picture -", environment)
        #expect(answer.status == 64)
        #expect(answer.text.contains("CLARION_PASSWORD"), "\(answer.text)")
    }

    @Test("a second demo in the same folder names no option that the demo lacks")
    func secondDemo() async throws {
        try await TemporaryFolder.use { folder in
            let demo = "$CLARION demo --port 0 --directory \(folder)/demo"
            let answer = try await Self.shell(
                """
                \(demo) >\(folder)/log 2>&1 & first=$!
                for _ in $(seq 300); do grep -q Open \(folder)/log && break; sleep 0.1; done
                \(demo); status=$?
                kill $first; wait $first; exit $status
                """)
            #expect(answer.status == 73)
            #expect(answer.text.contains("another server uses"), "\(answer.text)")
            #expect(!answer.text.contains("data-directory"), "\(answer.text)")
        }
    }
}

/// A terminal at which a test sits: what it types is the standard input of a command that reads `path`.
private final class PseudoTerminal {
    struct Failure: Error {}

    /// What a command opens.
    let path: String
    private let ours: Int32
    /// Kept open, so that what was typed is not lost while no command has the terminal open.
    private let theirs: Int32

    init() throws {
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        guard openpty(&ours, &theirs, nil, nil, nil) == 0 else { throw Failure() }
        (self.ours, self.theirs) = (ours, theirs)
        guard ttyname_r(theirs, &name, 128) == 0 else { throw Failure() }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        close(theirs)
        close(ours)
    }

    func type(_ text: String) throws {
        guard write(ours, text, text.utf8.count) == text.utf8.count else { throw Failure() }
    }
}
