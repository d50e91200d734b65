import Foundation
import RichPushModel
import Testing

@Suite("The types that server and device share")
struct SharedTypesTests {
    private func roundTrip<Value: Codable & Equatable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    @Test("an id is 31 bits, in its one decimal form")
    func richID() {
        #expect(RichID("2147483647")?.number == 2_147_483_647)
        for bad in ["", "0", "01", "+1", "-1", " 1", "1 ", "1e3", "0x1", "2147483648", "99999999999", "١"] {
            #expect(RichID(bad) == nil)
        }
        #expect(RichID(number: 0) == nil)
    }

    @Test("an id is written as text and read as text or number")
    func richIDCoding() throws {
        #expect(try JSONEncoder().encode([RichID(number: 7)!]) == Data(#"["7"]"#.utf8))
        #expect(
            try JSONDecoder().decode([RichID].self, from: Data(#"["7",7]"#.utf8)) == [RichID(number: 7)!, RichID(number: 7)!])
    }

    @Test("tags compare without regard to case, keep their spelling, and have their rules")
    func tags() {
        #expect(Tag("Beta") == Tag("beta"))
        #expect(Tag("Beta")?.text == "Beta")
        #expect(Tag("username:o@a.b-c_#") != nil)
        #expect(Tag(String(repeating: "x", count: 120)) != nil)
        #expect(Tag(String(repeating: "ж", count: 120)) != nil)
        #expect(Tag("ж" + String(repeating: "x", count: 120)) == nil)
        for bad in ["", "a b", "a&b", "a,b", "a\"", "(a)", "a\u{7F}", "ж b", String(repeating: "x", count: 121)] {
            #expect(Tag(bad) == nil, "\(bad)")
        }
    }

    @Test("user names and installation names have their rules")
    func names() {
        #expect(UserName("alice") == UserName("ALICE"))
        for bad in ["", "a:b", "a b", "é", String(repeating: "x", count: 65)] { #expect(UserName(bad) == nil) }
        for bad in ["", "a.b", "a/b", "..", String(repeating: "x", count: 129)] { #expect(InstallationID(bad) == nil) }
    }

    @Test("moments are whole milliseconds and clamp at the ends")
    func timestamps() {
        #expect(Timestamp(milliseconds: -1).seconds == -1)
        #expect(Timestamp(milliseconds: -1_000).seconds == -1)
        #expect(Timestamp(milliseconds: .min).seconds == -9_223_372_036_854_776)
        #expect(Timestamp(seconds: .max).milliseconds == .max)
        #expect((Timestamp(milliseconds: .max) + .seconds(1)).milliseconds == .max)
        #expect(Timestamp(milliseconds: 5_000) - Timestamp(milliseconds: 2_000) == .seconds(3))
        #expect(Duration.milliseconds(1_999).wholeMilliseconds == 1_999)
    }

    @Test("receipts, entries and requests keep everything on their way")
    func coding() throws {
        let id = try #require(RichID(number: 7))
        let receipt = Receipt(richID: id, kind: .action, action: "richPushMore", at: Timestamp(milliseconds: 1))
        #expect(try roundTrip(ReceiptBatch(receipts: [receipt])).receipts == [receipt])
        let content = ContentDescriptor(mediaType: "image/png", byteCount: 3, sha256: "00", fileName: "a.png")
        let entry = InboxEntry(
            id: id, kind: .image, title: "T", subtitle: "S", message: "M", altText: "A", sender: "bob",
            sentAt: Timestamp(milliseconds: 1), expiresAt: Timestamp(milliseconds: 2), read: true, content: content,
            thumb: content)
        #expect(try roundTrip(InboxPage(notifications: [entry], unread: 1, next: "7")).notifications == [entry])
        var request = SendRequest(message: "M")
        request.contentID = "c"
        request.coupon = Coupon(code: "C", headline: "H")
        #expect(try roundTrip(request) == request)
    }

    @Test("routes are what the documentation says")
    func routes() throws {
        let id = try #require(RichID(number: 7))
        #expect(APIRoute.details(id) == "/api/v1/notifications/7/details")
        #expect(APIRoute.installation(try #require(InstallationID("a"))) == "/api/v1/installations/a")
    }
}
