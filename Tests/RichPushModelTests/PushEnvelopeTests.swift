import Foundation
import RichPushModel
import Testing

@Suite("The push as a phone reads it")
struct PushEnvelopeTests {
    private func envelope(_ json: String) -> PushEnvelope? { PushEnvelope(payload: Data(json.utf8)) }

    @Test("reads the tutorial's silent push")
    func tutorial() throws {
        let push = try #require(
            envelope(#"{"aps":{"content-available":1},"richId":"7","richMessage":"Look","richType":"img"}"#))
        #expect(push == PushEnvelope(id: RichID(number: 7)!, kind: .image, message: "Look", hasAlert: false, wakesApp: true))
    }

    @Test("reads the tutorial's own bytes with an empty sound, and a number for the id")
    func numberAndSound() throws {
        let push = try #require(envelope(#"{"aps":{"content-available":1,"sound":""},"richId":7,"richType":"img"}"#))
        #expect(push.id == RichID(number: 7))
        #expect(!push.hasAlert)
    }

    @Test("knows a visible push by its alert, as text or as an object")
    func alerts() {
        #expect(envelope(#"{"aps":{"alert":"Hi","mutable-content":1},"richId":"7"}"#)?.hasAlert == true)
        #expect(envelope(#"{"aps":{"alert":{"title":"Hi"}},"richId":"7"}"#)?.hasAlert == true)
        #expect(envelope(#"{"aps":{"alert":""},"richId":"7"}"#)?.hasAlert == false)
    }

    @Test(
        "is not a rich push without a proper id",
        arguments: [
            "", "[]", "{}", "null", #"{"richId":"0"}"#, #"{"richId":"-1"}"#, #"{"richId":"007"}"#, #"{"richId":"2147483648"}"#,
            #"{"richId":7.5}"#, #"{"richId":[7]}"#, #"{"richId":"../7"}"#, #"{"richId":true}"#, #"{"richId":"７"}"#,
        ])
    func noID(json: String) { #expect(envelope(json) == nil) }

    @Test(
        "survives values of any type",
        arguments: [
            #"{"aps":7,"richId":"7","richType":{},"richMessage":[1]}"#, #"{"aps":{"alert":7},"richId":"7"}"#,
            #"{"aps":{"content-available":"1","alert":[]},"richId":"7"}"#, #"{"aps":null,"richId":"7","richType":null}"#,
        ])
    func anyType(json: String) throws {
        let push = try #require(envelope(json))
        #expect(push.kind == .file)
        #expect(push.message.isEmpty)
        #expect(!push.hasAlert)
        #expect(!push.wakesApp)
    }
}
