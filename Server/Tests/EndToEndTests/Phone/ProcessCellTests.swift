import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

/// The cells in which the boundary between processes matters: server, hub, local APNs, app and extension are all real.
struct ProcessCellTests {
    @Test("app and extension, which share a folder and nothing else, show and report what they must in twenty cells")
    func cells() async throws {
        #expect(ProcessCell.all.count == 20)
        #expect(Set(ProcessCell.all.map(\.name)).count == 20)
        try await Stage.open { stage in
            for cell in ProcessCell.all {
                try await ProcessPhone.use(cell.name, on: stage) { configuration in
                    guard cell.trouble == .slow else { return }
                    // There is time for one slow answer, with much to spare for a busy machine, and none for two.
                    configuration.slowAnswerDelay = .seconds(8)
                    configuration.backgroundTime = .seconds(16) + configuration.app.limits.presentationReserve
                    configuration.app.limits.receiptDeadline = .seconds(16)
                } _: { phone in
                    try await play(cell, phone)
                }
            }
        }
    }

    private func play(_ cell: ProcessCell, _ phone: ProcessPhone) async throws {
        try await bring(phone.phone, to: cell.state)
        let id: RichID
        switch cell.trouble {
        case .online: id = try await phone.send(cell.style)
        case .slow, .offline:
            // What the push comes by is another way than that to the backend.
            await phone.phone.loseBackend(to: cell.trouble == .slow ? .slow : .offline)
            id = try await phone.send(cell.style)
        case .recalled: id = try await recalled(phone)
        }
        try await phone.settled()
        let snapshot = await phone.phone.snapshot
        #expect(seen(snapshot) == cell.seen, "\(cell.name)")
        #expect(phone.extensionEnds == (cell.style == .silent ? [] : ["answered"]), "\(cell.name)")
        #expect(phone.phone.steps.count { $0.detail["answer"] != nil } == answers(cell), "\(cell.name)")
        try await act(cell, phone.phone, snapshot)
        #expect(await phone.phone.snapshot.content?.state.rawValue == cell.content, "\(cell.name)")
        try await expectReceipts(cell, phone, id)
        #expect(phone.surplusAnswers == [], "\(cell.name)")
    }

    /// A push that is on its way while its notification is recalled. The silent one before it does not start a force-quit app.
    private func recalled(_ phone: ProcessPhone) async throws -> RichID {
        let id = try await phone.send(.silent)
        // A recall that comes before the push has left keeps it from leaving.
        try await phone.settled()
        let answer = try await phone.stage.caller(phone.name).call("DELETE", APIRoute.notification(id))
        #expect((200..<300).contains(answer.status))
        let payload = #"{"aps":{"alert":"You have a new message","mutable-content":1,"category":"richPush"},"richId":"\#(id)"}"#
        await phone.phone.receive(
            IncomingPush(
                payload: Data(payload.utf8), pushType: "alert", apnsID: "late", collapseID: nil,
                topic: phone.phone.configuration.bundleID))
        return id
    }

    private func answers(_ cell: ProcessCell) -> Int {
        cell.style == .alert || cell.state == .forceQuit ? 0 : 1
    }

    private func bring(_ phone: SimulatedPhone, to state: ProcessCell.State) async throws {
        switch state {
        case .foreground: break
        case .background: try await phone.perform(.home)
        case .suspended:
            try await phone.perform(.home)
            try await phone.happen(.idle)
        case .terminated: try await phone.perform(.endApp)
        case .forceQuit: try await phone.perform(.terminate)
        case .locked:
            try await phone.perform(.lock)
            try await phone.happen(.idle)
        case .beforeFirstUnlock: try await phone.perform(.restart)
        }
    }

    private func seen(_ snapshot: PhoneSnapshot) -> ProcessCell.Seen? {
        if let question = snapshot.alert { return question.message == "The words" ? .question : nil }
        guard let notice = snapshot.notifications.first else { return .nothing }
        guard snapshot.notifications.count == 1 else { return nil }
        if notice.body == "You have a new message" { return notice.hasAttachment ? nil : .neutral }
        guard notice.title == "The title", notice.body == "The words" else { return nil }
        return notice.hasAttachment ? .picture : .words
    }

    private func act(_ cell: ProcessCell, _ phone: SimulatedPhone, _ snapshot: PhoneSnapshot) async throws {
        let id = snapshot.notifications.first?.id ?? ""
        switch cell.act {
        case .ignore: break
        case .tap: try await phone.perform(.tapNotification(id: id))
        case .more: try await phone.perform(snapshot.alert == nil ? .moreNotification(id: id) : .alertMore)
        case .dismiss: try await phone.perform(.dismissNotification(id: id))
        }
    }

    /// Exactly these; and exactly those, when the trouble is over and the app was opened.
    private func expectReceipts(_ cell: ProcessCell, _ phone: ProcessPhone, _ id: RichID) async throws {
        try await expect(cell.receipts, of: id, on: phone, cell)
        await phone.phone.loseBackend(to: .online)
        try await phone.phone.perform(.unlock)
        try await phone.phone.perform(.openApp)
        try await expect(cell.receipts.union(cell.later), of: id, on: phone, cell)
    }

    private func expect(_ expected: Set<String>, of id: RichID, on phone: ProcessPhone, _ cell: ProcessCell) async throws {
        _ = try await eventually("the receipts of \(cell.name): \(expected.sorted())", within: .seconds(60)) {
            try await phone.receipts(of: id) == expected ? true : nil
        }
        // Whatever could add to them ends first: the extensions, what is on its way through the app, its outbox.
        try await phone.expectNoZombie()
        try await phone.settled()
        _ = try? await phone.phone.engine?.refresh()
        #expect(try await phone.receipts(of: id) == expected, "\(cell.name)")
    }
}

extension SimulatedPhone {
    /// The way to the backend is bad, that of pushes is not.
    func loseBackend(to connection: PhoneSnapshot.Network) { network.connection = connection }
}
