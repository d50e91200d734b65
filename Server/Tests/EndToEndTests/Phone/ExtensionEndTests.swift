import Foundation
import RichPushDevice
import RichPushModel
import Testing

@testable import DeviceSimulation

/// What becomes of a service extension that does not do its work: the user sees the push as it came, and nothing is left behind.
struct ExtensionEndTests {
    private func expectOriginal(
        _ mistake: ExtensionMistake, _ reason: ExtensionEnd.Reason, time: Duration = .seconds(30),
        warning: Duration = .seconds(1)
    ) async throws {
        try await Stage.open { stage in
            try await ProcessPhone.use("alice", on: stage) { configuration in
                configuration.extensionMistake = mistake
                configuration.backgroundTime = time
                configuration.expiryWarning = warning
            } _: { phone in
                try await phone.phone.perform(.home)
                let id = try await phone.send(.alert)
                try await phone.settled()
                #expect(phone.extensionEnds == [reason.rawValue])
                let notice = try #require(await phone.phone.snapshot.notifications.first)
                #expect(notice.body == "You have a new message")
                #expect(!notice.hasAttachment)
                try await phone.expectNoZombie()
                // The content is no worse for it.
                try await phone.phone.perform(.tapNotification(id: notice.id))
                #expect(await phone.phone.snapshot.content?.state == .ready)
                #expect(await phone.phone.snapshot.content?.richID == id)
            }
        }
    }

    @Test("one that hangs gets the expiry call, and is killed at its deadline")
    func hung() async throws {
        try await expectOriginal(.hang, .killedAtDeadline, time: .milliseconds(1_500), warning: .milliseconds(500))
    }

    @Test("one that takes too much memory is killed long before its deadline")
    func grows() async throws { try await expectOriginal(.grow, .killedForMemory) }

    @Test("one that crashes is not waited for")
    func crashes() async throws { try await expectOriginal(.crash, .crashed) }

    @Test("one that hands over twice is noticed; the user sees the first")
    func answersTwice() async throws {
        try await Stage.open { stage in
            try await ProcessPhone.use("alice", on: stage) { configuration in
                configuration.extensionMistake = .answerTwice
            } _: { phone in
                try await phone.phone.perform(.home)
                _ = try await phone.send(.alert)
                try await phone.settled()
                try await phone.expectNoZombie()
                _ = try await eventually("the phone notices it") { phone.surplusAnswers.isEmpty ? nil : true }
                #expect(phone.surplusAnswers == [SimulatedPhone.surplusContent])
                #expect(phone.extensionEnds == ["answered"])
                #expect(await phone.phone.snapshot.notifications.map(\.body) == ["The words"])
            }
        }
    }

    @Test("a program that cannot be started shows the push as it came")
    func notStarted() async throws {
        let configuration = SimulatedPhoneConfiguration(
            identity: .init(id: "p", name: "p", model: "p"), app: try .init(backend: URL(string: "http://127.0.0.1:9")!),
            bundleID: "t", folder: FileManager.default.temporaryDirectory)
        struct Silent: EventLog { func record(_ event: DeviceEvent) {} }
        for program in ["/no/such/program", "/bin/false"] {
            let host = ExtensionProcess(configuration, program: program, log: Silent()) {}
            let end = await host.run(.init(identifier: "x", envelope: nil, original: .init(body: "b")))
            #expect(end.reason == .notStarted)
            #expect(end.content == nil)
        }
    }

    @Test("an app that is killed in the middle is noticed; the next tap starts it, with its session")
    func appKilled() async throws {
        try await Stage.open { stage in
            try await ProcessPhone.use("alice", on: stage) { phone in
                try await phone.phone.perform(.home)
                _ = try await phone.send(.alert)
                try await phone.settled()
                let app = try #require(await phone.phone.engine as? AppClient)
                kill(app.processID, SIGKILL)
                let simulated = phone.phone
                _ = try await eventually("the phone notices it") {
                    await simulated.snapshot.process == .notRunning ? true : nil
                }
                #expect(phone.phone.steps.contains { $0.title == "The app crashed" })
                let notice = try #require(await phone.phone.snapshot.notifications.first)
                try await phone.phone.perform(.tapNotification(id: notice.id))
                #expect(await phone.phone.snapshot.content?.state == .ready)
                #expect(await phone.phone.snapshot.user == "alice")
            }
        }
    }

    @Test("an app that is removed and one that is signed out leave no process")
    func stopped() async throws {
        try await Stage.open { stage in
            try await ProcessPhone.use("alice", on: stage) { phone in
                let app = try #require(await phone.phone.engine as? AppClient)
                try await phone.phone.perform(.signOut)
                #expect(await phone.phone.snapshot.user == nil)
                try await phone.phone.perform(.removeApp)
                #expect(!FileManager.default.fileExists(atPath: "/proc/\(app.processID)"))
            }
        }
    }
}
