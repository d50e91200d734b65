import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Error bodies, to the byte")
struct ErrorBodyTests {
    private static let tracking = "1f0c8f5e-0000-4000-8000-000000000001"

    @Test("code before detail, with tracking id and time at the end of the detail")
    func golden() throws {
        let body = ErrorBody(code: 404, detail: "Installation not found", trackingID: Self.tracking, at: Samples.morning)
        let expected =
            "<Error><Code>404</Code><Detail>Installation not found.TrackingId:\(Self.tracking)_G0,TimeStamp:3/1/2026 10:00:00 AM</Detail></Error>"
        #expect(body.answer() == expected)
        let read = try #require(ErrorBody.read(Array(expected.utf8)))
        #expect(read == body)
        #expect(read.sentence == "Installation not found.")
        #expect(read.trackingID == Self.tracking)
        #expect(read.subCode == nil)
    }

    @Test("the sub-code stands first, where .NET looks for it")
    func subCode() {
        let body = ErrorBody(code: 409, detail: "Conflict.", subCode: 40900, trackingID: "t", at: Samples.morning)
        #expect(body.detail == "SubCode=40900. Conflict.TrackingId:t_G0,TimeStamp:3/1/2026 10:00:00 AM")
        #expect(body.subCode == 40900)
        #expect(body.trackingID == "t")
    }

    @Test("times are on the American clock of twelve hours")
    func clock() {
        for (seconds, text) in [(0, "12:00:00 AM"), (43_200, "12:00:00 PM"), (46_805, "1:00:05 PM"), (86_399, "11:59:59 PM")] {
            let body = ErrorBody(code: 400, detail: "x", trackingID: "t", at: Timestamp(seconds: 1_764_547_200 + Int64(seconds)))
            #expect(body.detail.hasSuffix("TimeStamp:12/1/2025 \(text)"))
        }
    }

    @Test("a detail is escaped; other bodies are no error bodies")
    func others() {
        #expect(
            ErrorBody(code: 400, detail: "a <b> & c").answer()
                == "<Error><Code>400</Code><Detail>a &lt;b&gt; &amp; c</Detail></Error>")
        for text in ["", "{}", "<html/>", "<Error/>", "<Error><Code>x</Code></Error>"] {
            #expect(ErrorBody.read(Array(text.utf8)) == nil)
        }
        #expect(ErrorBody.read(Array("<Error><Code>401</Code></Error>".utf8)) == ErrorBody(code: 401, detail: ""))
    }
}
