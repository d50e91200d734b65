import Foundation
import RichPushModel
import Testing

@Suite("The push as a phone reads it")
struct PushEnvelopeTests {
    private func envelope(_ json: String) -> PushEnvelope? { PushEnvelope(payload: Data(json.utf8)) }

    @Test("reads the rich push tutorial's silent push")
    func tutorial() throws {
        let push = try #require(
            envelope(#"{"aps":{"content-available":1},"richId":"7","richMessage":"Look","richType":"img"}"#))
        #expect(push == PushEnvelope(id: RichID(number: 7)!, kind: .image, message: "Look", hasAlert: false, wakesApp: true))
    }

    @Test("reads the rich push tutorial's own bytes with an empty sound, and a number for the id")
    func numberAndSound() throws {
        let push = try #require(envelope(#"{"aps":{"content-available":1,"sound":""},"richId":7,"richType":"img"}"#))
        #expect(push.id == RichID(number: 7))
        #expect(!push.hasAlert)
    }

    @Test(
        "reads for whom a push is, and nothing else in that place",
        arguments: [
            (#""27e90420f33712e2""#, "27e90420f33712e2"), (#""27E90420F33712E2""#, nil), (#""27e90420f33712e""#, nil),
            (#""27e90420f33712e2a""#, nil), (#""""#, nil), ("7", nil), ("null", nil), ("[]", nil), (#""２7e90420f33712e""#, nil),
        ] as [(String, String?)])
    func subject(json: String, text: String?) throws {
        let push = try #require(envelope(#"{"aps":{"content-available":1},"richFor":\#(json),"richId":"7"}"#))
        #expect(push.subject?.text == text)
    }

    @Test("a mark is made of the first eight bytes of a digest")
    func mark() {
        #expect(SubjectMark(digest: 0..<32)?.text == "0001020304050607")
        #expect(SubjectMark(digest: 0..<7) == nil)
        let message = String(decoding: SubjectMark.message(of: RichID(number: 7)!, for: "Alice"), as: UTF8.self)
        #expect(message == "clarion subject 1\n7\nalice")
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

    @Test("reads a push of data alone, with the texts that the app shows")
    func data() throws {
        let data = [
            "richId": "7", "richType": "img", "richMessage": "Look", "richFor": "27e90420f33712e2", "title": "Shop",
            "body": "New", "thread": "news", "sound": "chime", "badge": "3", "later": "x",
        ]
        let push = try #require(PushEnvelope(data: data))
        let words = try #require(PushWords(data: data.filter { !$0.key.hasPrefix("rich") && $0.key != "later" }))
        #expect(
            push
                == PushEnvelope(
                    id: RichID(number: 7)!, kind: .image, message: "Look", subject: SubjectMark("27e90420f33712e2"),
                    hasAlert: false, wakesApp: true, words: words))
        #expect(words.title == "Shop")
        #expect(words.subtitle == nil)
        #expect(words.body == "New")
        #expect(words.thread == "news")
        #expect(words.sound == "chime")
        #expect(words.badge == 3)
    }

    @Test(
        "of data alone passes over an empty sound, and over a badge that is no number of an icon",
        arguments: ["", "-1", "3.5", "x"])
    func dataWithBadBadge(badge: String) throws {
        let words = try #require(PushWords(data: ["body": "New", "sound": "", "badge": badge]))
        #expect(words.badge == nil)
        #expect(words.sound == nil)
    }

    @Test("of data alone only wakes the app when it has no text", arguments: [[:], ["title": "", "thread": "news"]])
    func dataWithoutWords(data: [String: String]) throws {
        #expect(try #require(PushEnvelope(data: data.merging(["richId": "7"]) { $1 })).words == nil)
    }

    @Test(
        "of data alone is no rich push without a proper id", arguments: [[:], ["richId": "007"], ["richId": "x", "body": "New"]])
    func dataWithoutID(data: [String: String]) { #expect(PushEnvelope(data: data) == nil) }

    @Test("of data alone passes over a mark that is none")
    func dataWithBadMark() throws {
        let push = try #require(PushEnvelope(data: ["richId": "7", "richFor": "27E9"]))
        #expect(push.subject == nil)
        #expect(push.kind == .file)
    }
}
