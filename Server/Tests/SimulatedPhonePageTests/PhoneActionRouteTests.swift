@testable import DeviceSimulation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import RichPushModel
import Testing

@Suite("Actions of the page")
struct PhoneActionRouteTests {
    private let phone = ScriptedPhone()
    private var harness: PageHarness { PageHarness([phone, ScriptedPhone(id: "p2", name: "Second phone")]) }

    @Test("what the page sends reaches the phone that it names")
    func performed() async throws {
        #expect(try await harness.act(#"{"name":"signIn","user":"alice","password":"alice"}"#).status == .noContent)
        #expect(try await harness.act(#"{"name":"sendPush"}"#).status == .noContent)
        #expect(try await harness.act(#"{"name":"sendPush","kind":"sound","style":"alert","message":"Hi"}"#).status == .noContent)
        #expect(try await harness.act(#"{"name":"openInbox","richId":"7"}"#).status == .noContent)
        let draft = PhoneAction.PushDraft(style: .alert, message: "Hi", kind: .sound)
        let seven = try #require(RichID(number: 7))
        #expect(
            await phone.actions == [
                .signIn(user: "alice", password: "alice"), .sendPush(.init()), .sendPush(draft), .openInbox(seven),
            ])
    }

    @Test(
        "every switch of the page is an action that the phone knows",
        arguments: [
            #"{"name":"home"}"#, #"{"name":"openApp"}"#, #"{"name":"lock"}"#, #"{"name":"unlock"}"#, #"{"name":"terminate"}"#,
            #"{"name":"signOut"}"#, #"{"name":"setNetwork","offline":true}"#, #"{"name":"setBackgroundRefresh","on":false}"#,
            #"{"name":"setPermission","permission":"denied"}"#, #"{"name":"setPermission","permission":"granted"}"#,
            #"{"name":"tapNotification","id":"n"}"#, #"{"name":"moreNotification","id":"n"}"#,
            #"{"name":"dismissNotification","id":"n"}"#, #"{"name":"clearNotifications"}"#, #"{"name":"alertOK"}"#,
            #"{"name":"alertMore"}"#, #"{"name":"closeContent"}"#, #"{"name":"openLink"}"#, #"{"name":"refreshInbox"}"#,
            #"{"name":"replyNotification","id":"n","text":"On my way"}"#, #"{"name":"setPreviews","whenUnlocked":true}"#,
        ])
    func known(body: String) async throws {
        #expect(try await harness.act(body).status == .noContent)
        #expect(await phone.actions.count == 1)
    }

    @Test("an unknown action is refused with the names of the known ones")
    func unknownAction() async throws {
        let answer = try await harness.act(#"{"name":"explode"}"#)
        #expect(answer.status == .badRequest)
        #expect(answer.text.contains("not an action"))
        #expect(answer.text.contains("sendPush"))
        #expect(!answer.text.contains("explode"))
        #expect(await phone.actions.isEmpty)
    }

    @Test(
        "a malformed action is refused, and nothing happens on the phone",
        arguments: [
            #"{"name":"signIn","user":"alice"}"#, #"{"name":"setNetwork","offline":"yes"}"#, #"{"name":"setPermission"}"#,
            #"{"name":"openInbox","richId":"0"}"#, #"{"name":7}"#, "{}", "[]", "", "{", #"{"name":"home""#,
        ])
    func malformed(body: String) async throws {
        let answer = try await harness.act(body)
        #expect(answer.status == .badRequest)
        #expect(answer.headers[.contentType]?.hasPrefix("application/problem+json") == true)
        #expect(await phone.actions.isEmpty)
    }

    @Test("what cannot be done now is a conflict that says why")
    func refused() async throws {
        await phone.refuse(.notPossible("the notification is gone"))
        let answer = try await harness.act(#"{"name":"tapNotification","id":"n"}"#)
        #expect(answer.status == .conflict)
        #expect(answer.text.contains("the notification is gone"))
    }

    @Test("an action for a phone that is not there is not found")
    func unknownPhone() async throws {
        #expect(try await harness.act(#"{"name":"home"}"#, on: "p9").status == .notFound)
    }

    @Test("an oversized action is refused")
    func tooLarge() async throws {
        let message = String(repeating: "x", count: 70_000)
        #expect(try await harness.act(#"{"name":"sendPush","message":"\#(message)"}"#).status == .contentTooLarge)
    }

    @Test("only JSON is an action, so that no form of another page can send one")
    func formsAreRefused() async throws {
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
            let answer = try await harness.call(
                .post, "/phone/p1/actions", headers: [.contentType: type], body: #"{"name":"home"}"#)
            #expect(answer.status == .unsupportedMediaType)
        }
        #expect(await phone.actions.isEmpty)
    }

    @Test("a page of another site cannot act", arguments: ["cross-site", "same-site"])
    func crossSite(site: String) async throws {
        #expect(try await harness.act(#"{"name":"home"}"#, headers: [.secFetchSite: site]).status == .forbidden)
        #expect(try await harness.act(#"{"name":"home"}"#, headers: [.origin: "https://evil.example"]).status == .forbidden)
        #expect(try await harness.act(#"{"name":"home"}"#, headers: [.origin: "null"]).status == .forbidden)
        #expect(await phone.actions.isEmpty)
    }
}
