import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Telemetry, to the byte")
struct NotificationDetailsTests {
    private static let details = NotificationDetails(
        id: "0c5d-0-1", location: "https://push.example.test/demo/messages/0c5d-0-1?api-version=2020-06", state: .completed,
        enqueueTime: Timestamp(milliseconds: 1_772_359_200_120), startTime: Timestamp(milliseconds: 1_772_359_200_310),
        endTime: Timestamp(milliseconds: 1_772_359_201_020), body: #"{"aps":{"alert":"Hello"}}"#, tags: "vip && !city:Oslo",
        targetPlatforms: ["apple"],
        outcomes: [OutcomeCounts(.apns, [.init(name: "Success", count: 3), .init(name: "WrongToken", count: 1)])],
        errorDetailsURL: "https://storage.example.test/errors/0c5d")

    private static let answer = #"""
        <NotificationDetails xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><NotificationId>0c5d-0-1</NotificationId><Location>sb://push.example.test/demo/messages/0c5d-0-1?api-version=2020-06</Location><State>Completed</State><EnqueueTime>2026-03-01T10:00:00.12Z</EnqueueTime><StartTime>2026-03-01T10:00:00.31Z</StartTime><EndTime>2026-03-01T10:00:01.02Z</EndTime><NotificationBody>{"aps":{"alert":"Hello"}}</NotificationBody><Tags>vip &amp;&amp; !city:Oslo</Tags><TargetPlatforms>apple</TargetPlatforms><ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>3</Count></Outcome><Outcome><Name>WrongToken</Name><Count>1</Count></Outcome></ApnsOutcomeCounts><PnsErrorDetailsUri>https://storage.example.test/errors/0c5d</PnsErrorDetailsUri></NotificationDetails>
        """#

    @Test("the documented answer is read and written")
    func golden() throws {
        #expect(Self.details.answer() == Self.answer)
        var expected = Self.details
        expected.location = "sb://push.example.test/demo/messages/0c5d-0-1?api-version=2020-06"
        #expect(try NotificationDetails.read(Array(Self.answer.utf8)) == expected)
    }

    @Test("a send that found no target or was cancelled has ended, and one that waits or is under way has not")
    func final() {
        #expect(
            NotificationDetails.State.allCases.filter(\.isFinal) == [.completed, .abandoned, .noTargetFound, .canceled])
    }

    @Test("absent elements are omitted")
    func sparse() throws {
        let expected = #"""
            <NotificationDetails xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><NotificationId>x</NotificationId><State>Scheduled</State></NotificationDetails>
            """#
        let details = NotificationDetails(id: "x", state: .scheduled)
        #expect(details.answer() == expected)
        #expect(try NotificationDetails.read(Array(expected.utf8)) == details)
    }

    @Test("counts stand in the order in which .NET reads them, whatever order they came in")
    func order() throws {
        let names = [
            "ApnsOutcomeCounts", "MpnsOutcomeCounts", "WnsOutcomeCounts", "GcmOutcomeCounts", "AdmOutcomeCounts",
            "PnsErrorDetailsUri", "FcmOutcomeCounts", "FcmV1OutcomeCounts", "BaiduOutcomeCounts", "BrowserOutcomeCounts",
            "XiaomiOutcomeCounts",
        ]
        var details = NotificationDetails(id: "x", state: .completed, errorDetailsURL: "u")
        details.outcomes = OutcomeCounts.Service.allCases.reversed().map { OutcomeCounts($0, [.init(name: "Skipped", count: 1)]) }
        let answer = details.answer()
        let places = names.compactMap { answer.firstRange(of: "<\($0)>")?.lowerBound }
        #expect(places.count == names.count)
        #expect(places == places.sorted())
    }

    @Test("a state of a newer service reads as unknown")
    func unknownState() throws {
        let text = Self.answer.replacing("Completed", with: "DetailedStateAvailable")
        #expect(try NotificationDetails.read(Array(text.utf8)).state == .unknown)
        #expect(throws: HubDocumentError.self) {
            try NotificationDetails.read(Array(text.replacing("2026-03-01T10:00:00.12Z", with: "now").utf8))
        }
    }

    @Test("the outcome of a test send")
    func outcome() throws {
        let expected = #"""
            <NotificationOutcome xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Success>1</Success><Failure>1</Failure><Results><RegistrationResult><ApplicationPlatform>apple</ApplicationPlatform><PnsHandle>0A1B</PnsHandle><RegistrationId>7481203-1183-2</RegistrationId><Outcome>The Push Notification was successfully sent to the Push Notification System</Outcome></RegistrationResult><RegistrationResult><ApplicationPlatform>apple</ApplicationPlatform><PnsHandle>2C3D</PnsHandle><RegistrationId>7481203-1184-2</RegistrationId><Outcome>The Token obtained from the Token Provider is wrong</Outcome></RegistrationResult></Results></NotificationOutcome>
            """#
        let outcome = NotificationOutcome(
            success: 1, failure: 1,
            results: [
                .init(
                    platform: "apple", handle: "0A1B", registrationID: "7481203-1183-2",
                    outcome: "The Push Notification was successfully sent to the Push Notification System"),
                .init(
                    platform: "apple", handle: "2C3D", registrationID: "7481203-1184-2",
                    outcome: "The Token obtained from the Token Provider is wrong"),
            ])
        #expect(outcome.answer() == expected)
        #expect(try NotificationOutcome.read(Array(expected.utf8)) == outcome)
        let none = NotificationOutcome(success: 0, failure: 0, results: [])
        #expect(none.answer().hasSuffix("<Success>0</Success><Failure>0</Failure><Results></Results></NotificationOutcome>"))
        #expect(try NotificationOutcome.read(Array(none.answer().utf8)) == none)
    }
}
