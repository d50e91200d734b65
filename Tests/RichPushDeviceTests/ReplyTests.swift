import Foundation
import RichPushModel
import RichPushSealing
import Testing

@testable import RichPushDevice

@Suite("An answer")
struct ReplyTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    private func response(_ text: String, to number: Int32 = 7) -> NotificationResponse {
        NotificationResponse(identifier: "rich-\(number)", richID: id(number), action: .reply(text))
    }

    private var sent: [Reply] {
        device.backend.requests.filter { $0.method == "POST" && $0.url.path.hasSuffix("/7/replies") }
            .compactMap { try? JSONDecoder().decode(Reply.self, from: $0.body ?? Data()) }
    }

    @Test("goes to the server once, counts as read, and opens nothing")
    func delivered() async throws {
        let app = try await device.signedIn()
        device.backend.store(7)
        _ = try await app.refresh()
        // Some pasteboards insert a control character, which the user did not write.
        await app.didRespond(response("  On my\u{0} way \n"))
        _ = try await app.refresh()
        #expect(sent.map(\.text) == ["On my way"])
        #expect(try await app.inbox().entries.map(\.read) == [true])
        #expect(await device.router.shown.isEmpty)
        #expect(device.backend.receipts.contains { $0.kind == .action && $0.action == PushEnvelope.replyAction })
        #expect(await device.notifications.presented.isEmpty)
    }

    @Test("that cannot be sent waits on the device, outlives the process, and has the same id when it is sent again")
    func waiting() async throws {
        let app = try await device.signedIn()
        device.backend.store(7)
        device.backend.script { $0.url.path.hasSuffix("/replies") ? .failure(.unreachable) : nil }
        await app.didRespond(response("Yes"))
        await app.didRespond(response("Yes"))
        #expect(await device.notifications.presented.isEmpty)
        let failed = sent
        device.backend.script(nil)
        let again = try await device.launch()
        _ = try await again.refresh()
        let delivered = sent.dropFirst(failed.count)
        #expect(delivered.map(\.text) == ["Yes", "Yes"])
        #expect(Set(delivered.map(\.id)).count == 2)
        #expect(Set(failed.map(\.id)).isSubset(of: Set(delivered.map(\.id))))
        _ = try await again.refresh()
        #expect(sent.count == failed.count + 2)
    }

    @Test("that the server refuses is not sent again, and its user is informed", arguments: [400, 404])
    func refused(status: Int) async throws {
        let app = try await device.signedIn()
        device.backend.store(7)
        device.backend.script { $0.url.path.hasSuffix("/replies") ? .success(ScriptedBackend.problem(status)) : nil }
        await app.didRespond(response("Yes"))
        #expect(await device.notifications.presented.map(\.content.body) == ["Your reply could not be delivered"])
        _ = try await app.refresh()
        #expect(sent.count == 1)
    }

    @Test("that waited for a week is given up, and its user is informed")
    func tooOld() async throws {
        let app = try await device.signedIn()
        device.backend.store(7)
        device.backend.setOffline(true)
        await app.didRespond(response("Yes"))
        device.clock.advance(by: .seconds(8 * 86_400))
        device.backend.setOffline(false)
        let before = sent.count
        _ = try await app.refresh()
        #expect(sent.count == before)
        #expect(await device.notifications.presented.map(\.identifier) == ["reply-7"])
    }

    @Test("to an encrypted notification is not sent in clear: its user is informed")
    func sealed() async throws {
        let app = try await device.signedIn()
        try device.backend.storeSealed(7, SealedText(message: "Secret"))
        _ = try await app.refresh()
        await app.didRespond(response("Secret answer"))
        #expect(sent.isEmpty)
        #expect(await device.notifications.presented.map(\.identifier) == ["reply-7"])
        #expect(
            device.files.allSatisfy { file in
                (try? Data(contentsOf: URL(fileURLWithPath: file)).range(of: Data("Secret answer".utf8))) == .some(nil)
            })
    }

    @Test("to a sealed push of which nothing could be fetched is not sent in clear either")
    func sealedUnknown() async throws {
        let app = try await device.signedIn()
        var answer = response("Secret answer")
        answer.kind = .sealed
        await app.didRespond(answer)
        _ = try await app.refresh()
        #expect(sent.isEmpty)
        #expect(await device.notifications.presented.map(\.identifier) == ["reply-7"])
    }

    @Test("in a session that the server has ended does not vanish: its user is informed, and no screen opens")
    func rejected() async throws {
        let app = try await device.signedIn()
        device.backend.state.with { state in
            state.credentials = []
            state.passwords = [:]
        }
        await #expect(throws: RichPushError.credentialRejected) { try await app.refresh() }
        await app.didRespond(response("Yes"))
        #expect(await device.notifications.presented.map(\.identifier) == ["reply-7"])
        #expect(await device.router.shown.isEmpty && sent.isEmpty)
    }

    @Test("is offered only when the app asks for it, and white space is none")
    func category() async throws {
        let app = try await device.signedIn()
        #expect(await device.notifications.categories.first?.actions.map(\.takesText) == [false])
        device.backend.store(7)
        await app.didRespond(response(" \n "))
        #expect(sent.isEmpty)
        var configuration = try TestDevice.configuration()
        configuration.offersReply = true
        _ = try await device.launch(configuration)
        let actions = try #require(await device.notifications.categories.first).actions
        #expect(actions.map(\.identifier) == [PushEnvelope.moreAction, PushEnvelope.replyAction])
        #expect(actions.map(\.takesText) == [false, true])
    }
}
