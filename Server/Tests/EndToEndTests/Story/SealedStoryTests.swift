import ClarionTesting
import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@testable import LabServices

/// End-to-end encryption, from the command line of the sender to the phone's screen.
struct SealedStoryTests {
    /// What must be found nowhere but on the phone.
    private static let secret = "Meet me at the old harbour"

    /// Runs `clarion` with arguments as a user, and returns what it printed and its exit status.
    private static func clarion(
        _ arguments: [String], as user: String, on stage: Stage
    ) async throws -> (status: Int32, text: String) {
        let output = NSTemporaryDirectory() + "clarion-\(UUID().uuidString).log"
        defer { try? FileManager.default.removeItem(atPath: output) }
        var command = ChildProcess.Command(ServerProcess.program, arguments, output: output)
        command.environment = ["CLARION_SERVER_URL": stage.address, "CLARION_USER": user, "CLARION_PASSWORD": user]
        let process = try ChildProcess(command)
        let status = await process.exitStatus()
        return (status, (try? String(contentsOfFile: output, encoding: .utf8)) ?? "")
    }

    /// Every file in a folder that holds one of the byte sequences.
    private static func files(in folder: String, holding needles: [Data]) throws -> [String] {
        let names = try #require(FileManager.default.enumerator(atPath: folder)?.allObjects as? [String])
        var looked = 0
        let found = names.filter { name in
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { return false }
            looked += 1
            return needles.contains { data.range(of: $0) != nil }
        }
        #expect(looked > 2)
        return found
    }

    @Test("what alice is sent sealed shows on her phone, and neither server nor Apple has a word or a byte of it")
    func story() async throws {
        try await Stage.open(phones: 2) { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.signIn("bob", on: 2)
            for number in 1...2 { try await stage.phone(number).perform(.home) }
            try await TemporaryFolder.use { folder in
                let picture = Picture.random(side: 64)
                try picture.write(to: URL(filePath: "\(folder)/harbour.gif"))
                let sent = try await Self.clarion(
                    ["send", "--seal", "--to", "alice", "--message", Self.secret, "--picture", "\(folder)/harbour.gif"],
                    as: "carol", on: stage)
                try #require(sent.status == 0, "\(sent.text)")
                #expect(
                    sent.text.contains("readable by the users that the audience names, on the devices that it was sealed for"))
                let home = try await stage.wait(for: "the notification", on: 1) { !$0.notifications.isEmpty }
                let notice = try #require(home.notifications.first)
                #expect(notice.body == Self.secret)
                try await stage.phone(1).perform(.tapNotification(id: notice.id))
                let shown = try await stage.wait(for: "the picture", on: 1) { $0.content?.state == .ready }
                let id = try #require(shown.content?.richID)
                #expect(shown.content?.kind == .image)
                #expect(shown.content?.message == Self.secret)
                let media = try #require(await stage.phone(1).media(for: id, attachmentOf: nil))
                #expect(try Data(contentsOf: media.file) == picture)
                try await Self.expectNoTrace(of: [Data(Self.secret.utf8), picture.dropFirst(200).prefix(64)], id, on: stage)
                #expect(await stage.phone(2).snapshot.notifications.isEmpty)
            }
        }
    }

    private static func expectNoTrace(of needles: [Data], _ id: RichID, on stage: Stage) async throws {
        #expect(try files(in: stage.serverDirectory, holding: needles).isEmpty)
        #expect(
            stage.demo.apns.recordedExchanges.allSatisfy { exchange in
                needles.allSatisfy { Data(exchange.payload).range(of: $0) == nil }
            })
        for path in [APIRoute.details(id), APIRoute.notification(id), APIRoute.notification(id) + "?variant=thumb"] {
            let answer = try await stage.caller("alice").call("GET", path)
            #expect(answer.status == 200)
            #expect(needles.allSatisfy { answer.body.range(of: $0) == nil })
        }
        let details = try await stage.caller("alice").call("GET", APIRoute.details(id)).decoded(InboxEntry.self)
        #expect(details.kind == .sealed)
        #expect(details.title == nil)
        #expect(details.content?.fileName == nil)
        #expect(details.content?.mediaType == MediaFormat.sealed.rawValue)
    }

    @Test("a phone that signs in after the sealing shows neutral text, and the one it was sealed for shows the real text")
    func lateDevice() async throws {
        try await Stage.open(phones: 2) { stage in
            try await stage.signIn("alice", on: 1)
            let sent = try await Self.clarion(["send", "--seal", "--message", Self.secret], as: "alice", on: stage)
            try #require(sent.status == 0, "\(sent.text)")
            try await stage.signIn("alice", on: 2)
            for (number, words) in [(1, Self.secret), (2, "You have a new message")] {
                try await stage.phone(number).perform(.refreshInbox)
                let phone = try await stage.wait(for: "the inbox of phone \(number)", on: number) { !$0.inbox.isEmpty }
                #expect(phone.inbox.map(\.message) == [words])
            }
        }
    }

    @Test("keys that were noted before are the only ones sealed for, and without any nothing is sent")
    func pinned() async throws {
        try await Stage.open(phones: 2) { stage in
            let none = try await Self.clarion(["send", "--seal", "--message", Self.secret], as: "alice", on: stage)
            #expect(none.status == 1)
            #expect(none.text.contains("no key to seal for"))
            #expect(!none.text.contains("Usage"))
            try await stage.signIn("alice", on: 1)
            let listed = try await Self.clarion(["keys", "--json"], as: "alice", on: stage)
            let keys = try JSONDecoder().decode([SealingDirectory.Key].self, from: Data(listed.text.utf8))
            #expect(keys.map(\.user) == ["alice"])
            try await stage.signIn("alice", on: 2)
            try await TemporaryFolder.use { folder in
                try Data(listed.text.utf8).write(to: URL(filePath: "\(folder)/keys.json"))
                let sent = try await Self.clarion(
                    ["send", "--seal", "--keys", "\(folder)/keys.json", "--message", Self.secret], as: "alice", on: stage)
                try #require(sent.status == 0, "\(sent.text)")
                #expect(sent.text.contains("warning: 1 of alice's 2 devices cannot open it"))
            }
            try await stage.phone(2).perform(.refreshInbox)
            let second = try await stage.wait(for: "the inbox", on: 2) { !$0.inbox.isEmpty }
            #expect(second.inbox.map(\.message) == ["You have a new message"])
        }
    }

    @Test("a file of keys that lacks a named user, or is invalid, is an error that says so, and nothing is sent")
    func wrongFile() async throws {
        try await Stage.open(phones: 2) { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.signIn("bob", on: 2)
            let listed = try await Self.clarion(["keys", "--to", "alice", "--json"], as: "carol", on: stage)
            try await TemporaryFolder.use { folder in
                let cases: [(text: String, to: String, status: Int32, says: String)] = [
                    (listed.text, "bob", 65, "the keys given hold none of bob"),
                    (listed.text, "alice,bob", 65, "the keys given hold none of bob"),
                    (#"[{"user": "bob"}]"#, "bob", 65, "keys.json is not what `clarion keys --json` prints: [0]"),
                    ("harbour", "bob", 65, "keys.json is not what `clarion keys --json` prints: it is not JSON"),
                    (listed.text, "b,o/b", 64, "'o/b' is not a user name"),
                ]
                for one in cases {
                    try Data(one.text.utf8).write(to: URL(filePath: "\(folder)/keys.json"))
                    let sent = try await Self.clarion(
                        ["send", "--seal", "--to", one.to, "--keys", "\(folder)/keys.json", "--message", Self.secret],
                        as: "carol", on: stage)
                    #expect(sent.status == one.status && sent.text.contains(one.says), "\(sent)")
                    // The usage of the command is printed for mistakes in the command line only.
                    #expect(sent.text.contains("Usage") == (one.status == 64), "\(sent.text)")
                    #expect(sent.text.contains("clarion send") == (one.status == 64), "\(sent.text)")
                }
                let away = try await Self.clarion(
                    ["send", "--seal", "--keys", "\(folder)/away.json", "--message", Self.secret], as: "alice", on: stage)
                #expect(away.status == 66)
                #expect(away.text.contains("away.json cannot be read"))
            }
            for number in 1...2 {
                try await stage.phone(number).perform(.refreshInbox)
                #expect(await stage.phone(number).snapshot.inbox.isEmpty)
            }
        }
    }

    @Test("the server refuses a sealed send that says something in clear, has no number, or comes too late with it")
    func refusals() async throws {
        try await Stage.open { stage in
            let caller = stage.caller("alice")
            let sealed = Data(MediaFormat.sealMark) + Data((0..<64).map { _ in UInt8.random(in: .min ... .max) })
            let stored = try await caller.call(
                "POST", APIRoute.content, body: sealed, headers: ["Content-Type": MediaFormat.sealed.rawValue])
            let content = try stored.decoded(ContentAnswer.self)
            #expect(content.content.mediaType == MediaFormat.sealed.rawValue)
            var request = SendRequest(message: "")
            request.kind = .sealed
            request.contentID = content.id
            let number = try await caller.call("GET", APIRoute.sealing).decoded(SealingDirectory.self).number
            var wrong: [SendRequest] = [request]
            request.id = number
            for change: (inout SendRequest) -> Void in [
                { $0.message = "in clear" }, { $0.title = "in clear" }, { $0.altText = "in clear" }, { $0.preview = .open },
                { $0.link = "https://example.org" }, { $0.kind = nil }, { $0.kind = .file }, { $0.contentID = nil },
            ] {
                var other = request
                change(&other)
                wrong.append(other)
            }
            for request in wrong {
                #expect(try await caller.call("POST", APIRoute.notifications, json: request).status == 400, "\(request)")
            }
            let taken = try await caller.call("POST", APIRoute.notifications, json: request)
            #expect(try taken.status == 201 && taken.decoded(SendAnswer.self).id == number)
            #expect(try await caller.call("POST", APIRoute.notifications, json: request).status == 409)
            request.id = RichID(number: number.number + 1_000)
            #expect(try await caller.call("POST", APIRoute.notifications, json: request).status == 409)
            #expect(try await caller.call("GET", APIRoute.sealing + "?users=").status == 400)
        }
    }
}
