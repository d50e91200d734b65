import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Feedback files, to the byte")
struct PnsFeedbackTests {
    private static let registration = PnsFeedback(
        time: Samples.morning, systemError: "ExpiredChannel", platform: "apple", handle: "0A1B",
        owner: .registration("7481203-1183-2"), notificationID: "0c5d-0-1")
    private static let installation = PnsFeedback(
        time: Samples.morning, systemError: "WrongToken", platform: "windows", handle: "https://c?a&b",
        owner: .installation("7d1f-22"), newHandle: "n")

    @Test("documents follow each other, each with its declaration")
    func golden() throws {
        let expected = #"""
            <?xml version="1.0" encoding="utf-16"?><PnsFeedback xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><FeedbackTime>2026-03-01T10:00:00Z</FeedbackTime><NotificationSystemError>ExpiredChannel</NotificationSystemError><Platform>apple</Platform><PnsHandle>0A1B</PnsHandle><RegistrationId>7481203-1183-2</RegistrationId><NotificationId>0c5d-0-1</NotificationId></PnsFeedback><?xml version="1.0" encoding="utf-16"?><PnsFeedback xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><FeedbackTime>2026-03-01T10:00:00Z</FeedbackTime><NotificationSystemError>WrongToken</NotificationSystemError><Platform>windows</Platform><PnsHandle>https://c?a&amp;b</PnsHandle><InstallationId>7d1f-22</InstallationId><NewPnsHandle>n</NewPnsHandle></PnsFeedback>
            """#
        #expect(Self.registration.document() + Self.installation.document() == expected)
        #expect(try PnsFeedback.read(Array(expected.utf8)) == [Self.registration, Self.installation])
        #expect(try PnsFeedback.read(Array(expected.replacing("?>", with: "?>\n").utf8)).count == 2)
        #expect(try PnsFeedback.read([]).isEmpty)
    }

    @Test("a file of another kind is refused")
    func other() {
        #expect(throws: HubDocumentError.self) { try PnsFeedback.read(Array("<Other/>".utf8)) }
        #expect(throws: HubDocumentError.self) { try PnsFeedback.read(Array(Self.registration.document().dropLast(5).utf8)) }
    }
}
