import ClarionTesting
import EngineTesting
import Foundation
import PushHub
import RichPushModel
import Testing

@testable import AppBackend

/// Random histories of an activity and its phones: whatever happens, in the end each phone shows what the server says.
@Suite("Live Activities by chance")
struct ActivityModelTests {
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    private static let histories = isLong ? 10_000 : 200
    /// How many happen to the same server and phones, one after another. What former ones left there makes each slower.
    private static let sharing = 25

    /// What may happen, the more often the more places it has.
    private enum Step: CaseIterable {
        case change, change2, alert, end, delete, tokens, rotate, reboot, offline, online, report, report2, cutReport, swipe,
            wait, wait2, work, crash, crashAfterSend
    }

    @Test("after any history each phone of the audience shows the newest state, or the end, and no other phone shows anything")
    func histories() async throws {
        let seed = SeededGenerator().seed
        print("seed \(seed)")
        for first in stride(from: 0, to: Self.histories, by: Self.sharing) {
            let scene = try await ActivityScene()
            let phones = [try await scene.phone("alice"), try await scene.phone("bob"), try await scene.phone("carol")]
            for history in first..<first + Self.sharing {
                var random = SeededGenerator(seed: seed &+ UInt64(history))
                try await run(history, scene, phones, &random)
            }
        }
    }

    private func run(
        _ history: Int, _ scene: ActivityScene, _ phones: [ActivityPhone], _ random: inout SeededGenerator
    ) async throws {
        let isOnChannel = Bool.random(using: &random)
        let activity = try await scene.start(to: "username:alice || username:bob", stage: "first") {
            if isOnChannel { $0.delivery = "channel" }
        }
        var stage = "first"
        var isOver = false
        var swiped: Set<InstallationID> = []
        for number in 0..<Int.random(in: 5...30, using: &random) {
            guard let step = Step.allCases.randomElement(using: &random), let phone = phones.randomElement(using: &random) else {
                return
            }
            switch step {
            case .change, .change2, .alert:
                guard !isOver else { break }
                stage = "\(history).\(number)"
                try await scene.change(activity.id, stage: stage) {
                    if step == .alert { $0.alert = ActivityAlert(title: "a", body: "b") }
                }
                try await rotateSome(of: phones, in: scene, &random)
            case .end where !isOver && number > 3:
                isOver = true
                stage = "end of \(history)"
                try await scene.change(activity.id, stage: stage) { $0.end = true }
            case .delete where !isOver && number > 8:
                isOver = true
                try await scene.backend.endActivity(activity.id, for: scene.shop)
            case .tokens: phone.giveTokens()
            case .rotate: phone.giveTokens(anew: true, lingering: .random(using: &random))
            case .reboot:
                phone.reboot(lingering: .random(using: &random))
                // One whose start is under way to the token before would never show it.
                if phone.starts[activity.id] != nil, Bool.random(using: &random) { phone.changeStartToken() }
            case .offline: phone.setOnline(false)
            case .online: phone.setOnline(true)
            case .report, .report2: try await scene.report(phone)
            case .cutReport: await scene.hub.dying(.beforeDevice) { try await scene.report(phone) }
            case .swipe where phone.shown[activity.id] != nil:
                phone.end([activity.id])
                swiped.insert(phone.installation)
            case .wait, .wait2: scene.test.clock.advance(by: .milliseconds(Int64.random(in: 100...3_000, using: &random)))
            case .crash: try await crash(scene)
            case .crashAfterSend: await crashAfterSend(scene)
            default: try await scene.work()
            }
        }
        try await settle(scene, phones)
        for phone in phones.prefix(2)
        where !swiped.contains(phone.installation) && !Self.isRight(phone.shown[activity.id], stage, isOver) {
            let status = try await scene.backend.activity(activity.id, for: scene.shop)
            let shown = String(describing: phone.shown[activity.id])
            Issue.record("history \(history), \(phone.installation): wanted \(stage), over \(isOver); shown \(shown); \(status)")
        }
        #expect(phones.allSatisfy { $0.starts[activity.id, default: 0] <= 1 }, "history \(history)")
        #expect(phones[2].shown[activity.id] == nil, "history \(history)")
        if !isOver { try await scene.backend.endActivity(activity.id, for: scene.shop) }
        try await settle(scene, phones)
    }

    /// A node dies with what it has claimed.
    private func crash(_ scene: ActivityScene) async throws {
        let now = scene.test.clock.now
        for onChannels in [false, true] {
            _ = try await scene.test.store.claimActivities(
                onChannels: onChannels, at: now, until: now + .seconds(60), limit: 10)
        }
        _ = try await scene.test.store.claimCatchUps(at: now, until: now + .seconds(1), limit: 10)
    }

    /// A node dies when the hub has taken a push.
    private func crashAfterSend(_ scene: ActivityScene) async {
        await scene.hub.dying(.afterSend) { try await scene.upkeep.work() }
        await scene.hub.dying(.afterSend) { try await scene.upkeep.workOnChannels() }
    }

    /// At one update in five the system gives a phone other tokens, of which the server hears at once or later.
    private func rotateSome(
        of phones: [ActivityPhone], in scene: ActivityScene, _ random: inout SeededGenerator
    ) async throws {
        for phone in phones where Int.random(in: 0..<5, using: &random) == 0 {
            phone.giveTokens(anew: true, lingering: .random(using: &random))
            if Bool.random(using: &random) { try await scene.report(phone) }
        }
    }

    /// One that the device ended by itself keeps what it showed.
    private static func isRight(_ shown: ActivityPhone.Shown?, _ stage: String, _ isOver: Bool) -> Bool {
        isOver ? shown?.isOver ?? true : shown?.isOver == false && shown?.stage == stage
    }

    /// All phones are on, have tokens and report, and what a crash has left behind runs out.
    private func settle(_ scene: ActivityScene, _ phones: [ActivityPhone]) async throws {
        for phone in phones { phone.setOnline(true) }
        for _ in 0..<3 {
            try await scene.work()
            scene.test.clock.advance(by: .seconds(61))
            // Reports that were cut off two minutes ago are brought to the hub.
            try await scene.upkeep.endChanges()
            try await scene.work()
            for phone in phones {
                phone.giveTokens()
                try await scene.report(phone)
            }
            scene.test.clock.advance(by: .seconds(2))
            try await scene.work()
        }
    }
}
