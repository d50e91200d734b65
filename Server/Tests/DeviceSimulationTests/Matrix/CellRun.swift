import ClarionTesting
import Foundation
import RichPushDevice
import RichPushModel
import Testing

@testable import DeviceSimulation
@testable import RichPushDevice

/// A phone that lives for one cell. It stands on the test's clock; nothing sleeps and no port is opened.
struct CellRun {
    static let number: Int32 = 7
    private static let id = RichID(number: number)!

    let cell: Cell
    let expectation: CellExpectation
    private let folder: URL
    private let clock = ManualClock()
    private let base = FakeServer()
    private let server: TroubledServer
    private let phone: SimulatedPhone

    init(_ cell: Cell) throws {
        self.cell = cell
        expectation = CellExpectation(cell)
        folder = QuickFolder.new("cell")
        server = TroubledServer(base: base, clock: clock)
        var app = try RichPushConfiguration(backend: URL(string: "http://127.0.0.1:8080")!)
        app.keepsPasswordForSending = true
        phone = try SimulatedPhone(
            configuration: SimulatedPhoneConfiguration(
                identity: .init(id: "p", name: "Phone", model: "Phone"), app: app, bundleID: FakePushService.topic,
                folder: folder), service: FakePushService(), transport: server, clock: clock)
    }

    /// Plays the cell and holds what happened against the expectation.
    func play() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await prepare()
        base.store(Self.number, in: cell.trouble)
        server.trouble.withLockedValue { $0 = cell.trouble }
        await phone.receive(push)
        await settle()
        let seen = await phone.snapshot
        #expect(Self.seen(seen) == expectation.seen, "\(cell): after the push")
        expectCompletions()
        let after = try await act(on: seen)
        #expect(after == expectation.after, "\(cell): after the act")
        try await expectReceipts()
        await phone.stop()
    }

    private func prepare() async throws {
        await phone.start()
        try await phone.perform(.openApp)
        try await phone.perform(.signIn(user: "alice", password: "alice"))
        // The permission that the sign-in asked for goes to the server behind it; a process that ends before would owe it, and a server
        // in trouble would be asked again and again.
        await expectRest()
        switch cell.state {
        case .foreground: break
        case .background: try await phone.perform(.home)
        case .suspended:
            try await phone.perform(.home)
            try await phone.happen(.idle)
        case .terminated:
            try await phone.perform(.home)
            try await phone.perform(.endApp)
        case .forceQuit: try await phone.perform(.terminate)
        case .locked:
            try await phone.perform(.lock)
            try await phone.happen(.idle)
        case .beforeFirstUnlock: try await phone.perform(.restart)
        }
    }

    private var push: IncomingPush {
        let alert = #""alert":{"body":"You have a new message"},"mutable-content":1,"category":"richPush""#
        let parts = (cell.hasAlert ? [alert] : []) + (cell.wakesApp ? [#""content-available":1"#] : [])
        let rest = #""richId":"\#(Self.number)","richType":"img","richMessage":"Look""#
        return IncomingPush(
            payload: Data("{\"aps\":{\(parts.joined(separator: ","))},\(rest)}".utf8),
            pushType: cell.hasAlert ? "alert" : "background", apnsID: "apns-1", collapseID: nil, topic: FakePushService.topic)
    }

    /// The extension answers when its time is over; what failed then is written down a moment later.
    private func settle() async {
        await settleExtension()
        guard cell.hasAlert, cell.state == .foreground else { return }
        // The app reads its inbox behind the question, and sends what waits. What the extension writes down late may have missed that.
        let phone = phone
        #expect(await eventually { await phone.isQuiet }, "\(cell)")
        if cell.trouble == .slow { try? await phone.perform(.refreshInbox) }
    }

    private func settleExtension() async {
        guard cell.trouble == .slow, cell.hasAlert, cell.state != .beforeFirstUnlock else { return }
        let phone = phone
        #expect(await eventually { phone.steps.contains { $0.title == "The content could not be fetched" } }, "\(cell)")
    }

    private static func seen(_ snapshot: PhoneSnapshot) -> CellExpectation.Seen? {
        let texts: (String?, String?) -> CellExpectation.Texts? = { title, body in
            switch (title, body) {
            case ("Title 7", "Message 7"): .enriched
            case (_, "You have a new message"): .original
            case (_, "Look"): .own
            default: nil
            }
        }
        guard snapshot.notifications.count <= 1 else { return nil }
        let notice = snapshot.notifications.first
        if let question = snapshot.alert {
            guard let texts = texts(question.title, question.message) else { return nil }
            return .question(texts, isListed: notice != nil)
        }
        guard let notice else { return .nothing }
        guard let texts = texts(notice.title, notice.body) else { return nil }
        return .notice(texts, hasPicture: notice.hasAttachment)
    }

    /// Every start has one end, within the thirty seconds that the system gives.
    private func expectCompletions() {
        let steps = phone.steps
        let extensions = steps.filter { $0.detail["extension"] != nil }
        #expect(extensions.count == expectation.extensionRuns, "\(cell): completions of the extension")
        #expect(extensions.allSatisfy { $0.detail["extension"] == "answered" }, "\(cell): \(extensions)")
        let answers = steps.compactMap { $0.detail["answer"] }
        let isClaimed = expectation.mayFindClaim && answers == ["noData"]
        #expect(isClaimed || answers == expectation.answers, "\(cell): answers of the app")
        let times = steps.compactMap { $0.detail["took-ms"].flatMap(Int.init) }
        #expect(times.count == expectation.extensionRuns + expectation.answers.count)
        #expect(times.allSatisfy { $0 < 30_000 }, "\(cell): took \(times) ms")
    }

    private func act(on seen: PhoneSnapshot) async throws -> CellExpectation.After {
        guard cell.act != .ignore else { return await unchanged(seen) ? .unchanged : .gone }
        do {
            try await phone.perform(try action(on: seen))
        } catch is PhoneActionError {
            return .impossible
        }
        let now = await phone.snapshot
        if let content = now.content { return .content(content.state.rawValue, error: content.error) }
        if now.screen == .signIn, cell.act != .dismiss { return .signIn }
        let isGone = seen.alert == nil ? now.notifications.isEmpty : now.alert == nil
        return isGone ? .gone : .unchanged
    }

    private func unchanged(_ seen: PhoneSnapshot) async -> Bool {
        let now = await phone.snapshot
        return now.notifications == seen.notifications && now.alert == seen.alert && now.screen == seen.screen
    }

    private func action(on seen: PhoneSnapshot) throws -> PhoneAction {
        let id = seen.notifications.first?.id ?? "nothing"
        switch cell.act {
        case .tap: return .tapNotification(id: id)
        case .more: return seen.alert == nil ? .moreNotification(id: id) : .alertMore
        case .dismiss: return seen.alert == nil ? .dismissNotification(id: id) : .alertOK
        case .ignore: throw PhoneActionError.notPossible("the user does nothing")
        }
    }

    private func expectReceipts() async throws {
        let (base, expected) = (base, expectation.receipts)
        _ = await eventually { base.receiptNames == expected }
        await expectQuiet()
        #expect(base.receiptNames == expected, "\(cell)")
        // In a session that the server has ended nothing is sent any more; the next sign-in begins anew.
        guard cell.trouble != .unauthorized else { return }
        server.trouble.withLockedValue { $0 = .online }
        if await phone.snapshot.locked { try await phone.perform(.unlock) }
        try await phone.perform(.openApp)
        let all = expected.union(expectation.later)
        _ = await eventually { base.receiptNames == all }
        await expectQuiet()
        #expect(base.receiptNames == all, "\(cell), later")
    }

    /// Nothing is in progress, and no task is due within the next minutes.
    private func expectQuiet() async {
        for time: Duration in [.zero, .seconds(300)] {
            clock.advance(by: time)
            await expectRest()
        }
    }

    private func expectRest() async {
        let phone = phone
        #expect(await eventually { await phone.isAtRest }, "\(cell): something is still under way")
    }
}

extension SimulatedPhone {
    /// Whether neither a push nor a call of the app's own is on its way.
    fileprivate var isAtRest: Bool {
        get async {
            guard isQuiet else { return false }
            guard let app = engine as? RichPushEngine else { return true }
            let isIdle = await app.isAtRest
            return isIdle && isQuiet
        }
    }
}

extension RichPushEngine {
    fileprivate var isAtRest: Bool {
        flushing == nil && registration == nil && renewal == nil && revoking == nil && pushes.isEmpty && fetches.isEmpty
    }
}

extension FakeServer {
    /// The receipts as text. The server counts a retry once, and so does the set.
    var receiptNames: Set<String> {
        Set(receipts.map { receipt in [receipt.kind.rawValue, receipt.action].compactMap(\.self).joined(separator: " ") })
    }
}
