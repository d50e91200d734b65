import Testing

@testable import WebPushEmulation

@Suite("Pushes that declare their notification")
struct DeclarativePushTests {
    private static let shown = #""title":"Hi","navigate":"https://example.com/1""#

    private func fault(_ message: String) -> DeclarativePush.Fault? {
        do throws(DeclarativePush.Fault) {
            _ = try DeclarativePush(Array(message.utf8))
            return nil
        } catch { return error }
    }

    @Test("a full declaration is read")
    func full() throws {
        let message = """
            {"web_push":8030,"app_badge":3,"mutable":true,"notification":{\(Self.shown),"body":"Text","tag":"a","renotify":true,\
            "lang":"en","dir":"ltr","icon":"/icon.png","silent":false,"actions":[{"action":"a","title":"Open","navigate":"https://e.example"}]}}
            """
        let push = try DeclarativePush(Array(message.utf8))
        #expect(push.title == "Hi")
        #expect(push.navigate == "https://example.com/1")
        #expect(push.body == "Text")
        #expect(push.tag == "a")
        #expect(push.appBadge == 3)
        #expect(push.isMutable)
        #expect(push.actionTitles == ["Open"])
    }

    @Test("members that a reader does not know are ignored")
    func unknown() {
        #expect(fault(#"{"web_push":8030,"options":{},"notification":{\#(Self.shown),"default_action_url":1}}"#) == nil)
    }

    @Test(
        "what breaks a rule is an ordinary push",
        arguments: [
            ("", .notDeclared), ("[8030]", .notDeclared), (#"{"notification":{\#(shown)}}"#, .notDeclared),
            (#"{"web_push":"8030","notification":{\#(shown)}}"#, .notDeclared),
            (#"{"web_push":8031,"notification":{\#(shown)}}"#, .notDeclared), (#"{"web_push":8030}"#, .notification),
            (#"{"web_push":8030,"notification":"Hi"}"#, .notification),
            (#"{"web_push":8030,"notification":{"title":"","navigate":"https://example.com"}}"#, .title),
            (#"{"web_push":8030,"notification":{"title":"Hi"}}"#, .navigate),
            (#"{"web_push":8030,"notification":{"title":"Hi","navigate":"/1"}}"#, .navigate),
            (#"{"web_push":8030,"notification":{\#(shown),"body":1}}"#, .text),
            (#"{"web_push":8030,"notification":{\#(shown),"dir":"up"}}"#, .direction),
            (#"{"web_push":8030,"notification":{\#(shown),"icon":1}}"#, .address),
            (#"{"web_push":8030,"notification":{\#(shown),"silent":"yes"}}"#, .flag),
            (#"{"web_push":8030,"notification":{\#(shown),"renotify":true}}"#, .renotifyWithoutTag),
            (#"{"web_push":8030,"notification":{\#(shown),"silent":true,"vibrate":[1]}}"#, .silentWithVibration),
            (#"{"web_push":8030,"notification":{\#(shown),"actions":[{"action":"a","title":"Open"}]}}"#, .actions),
            (#"{"web_push":8030,"app_badge":-1,"notification":{\#(shown)}}"#, .appBadge),
            (#"{"web_push":8030,"app_badge":"1","notification":{\#(shown)}}"#, .appBadge),
            (#"{"web_push":8030,"mutable":1,"notification":{\#(shown)}}"#, .mutable),
        ] as [(String, DeclarativePush.Fault)])
    func faults(message: String, expected: DeclarativePush.Fault) { #expect(fault(message) == expected) }
}
