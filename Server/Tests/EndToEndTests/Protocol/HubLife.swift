import APNsEmulation
import Foundation
import HubProtocol
import RichPushModel
import Testing

@testable import LabServices
@testable import ServerSettings

/// The chapters of a hub's life, for three devices: `first` and `second` have the tag `red`, `third` has `blue`.
struct HubLife {
    static let format = ("ServiceBusNotification-Format", "apple")

    let apns: LocalAPNs
    let hub: HubCaller
    /// Device tokens in upper case, as the hub stores them.
    let tokens: [String]
    /// What the local APNs had been asked before this life began.
    private let earlier: Int

    init(apns: LocalAPNs, hub: HubCaller) {
        self.apns = apns
        self.hub = hub
        tokens = ["first", "second", "third"].map {
            apns.issueToken(device: "\($0) phone", topic: Settings.demoTopic).uppercased()
        }
        earlier = apns.recordedExchanges.count
    }

    /// Everything that the local APNs was asked in this life.
    var exchanges: [APNsExchange] { Array(apns.recordedExchanges.dropFirst(earlier)) }

    func exchanges(of payload: String) -> [APNsExchange] { exchanges.filter { $0.payload == Array(payload.utf8) } }

    static func payload(_ text: String) -> String { #"{"aps":{"alert":"\#(text)"},"data":{"n":1.50,"s":"ø/\/"}}"# }

    /// An id for each device, then the registration under it.
    func register() async throws {
        for (index, token) in tokens.enumerated() {
            let reserved = try await hub.call("POST", "/life/registrationids?api-version=2020-06")
            #expect(reserved.status == 201)
            let stored = try await hub.call(
                "PUT", "/life/registrations/\(try reserved.locatedID())?api-version=2020-06",
                [("Content-Type", "application/atom+xml;type=entry;charset=utf-8")],
                body: """
                    <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AppleRegistrationDescription \
                    xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><Tags>\
                    \(index < 2 ? "red" : "blue"),all</Tags><DeviceToken>\(token.lowercased())</DeviceToken>\
                    </AppleRegistrationDescription></content></entry>
                    """)
            #expect(stored.status == 200 && stored.text.contains("<DeviceToken>\(token)</DeviceToken>"), "\(stored.text)")
        }
        #expect(try await registered("red") == Set(tokens.prefix(2)))
    }

    /// The tokens of those who have a tag.
    private func registered(_ tag: String) async throws -> Set<String> {
        let list = try await hub.call("GET", "/life/tags/\(tag)/registrations?api-version=2020-06")
        #expect(list.status == 200)
        return Set(list.text.matches(of: /<DeviceToken>([0-9A-F]+)<\/DeviceToken>/).map { String($0.1) })
    }

    /// One send with nothing but format and tags, one with every header for Apple.
    func send() async throws {
        let plain = Self.payload("to red")
        let id = try await accepted("/life/messages", [Self.format, ("ServiceBusNotification-Tags", "red && !blue")], plain)
        try await expectTelemetry(of: id, ["Success": 2])
        var found = exchanges(of: plain)
        #expect(Set(found.compactMap { $0.token?.uppercased() }) == Set(tokens.prefix(2)))
        #expect(found.count == 2)
        for exchange in found {
            #expect(exchange.method == "POST")
            #expect(exchange.path == "/3/device/\(exchange.token ?? "")")
            let headers = Self.headers(exchange)
            #expect(headers["apns-push-type"] == "alert" && headers["apns-priority"] == "10")
            #expect(headers["apns-topic"] == Settings.demoTopic && headers["apns-expiration"] == nil)
            #expect(headers["apns-id"].flatMap { UUID(uuidString: $0) } != nil)
            // A retry replaces the alert that it sends again.
            #expect(headers["apns-collapse-id"]?.isEmpty == false)
        }
        let full = Self.payload("to blue")
        let expiry = Int64(Date.now.timeIntervalSince1970) + 3600
        let other = try await accepted(
            "/life/messages",
            [
                Self.format, ("ServiceBusNotification-Tags", "blue"), ("apns-push-type", "alert"), ("apns-priority", "5"),
                ("apns-collapse-id", "score"), ("apns-expiration", "\(expiry)"), ("apns-topic", Settings.demoTopic),
            ], full)
        try await expectTelemetry(of: other, ["Success": 1])
        found = exchanges(of: full)
        #expect(found.map { $0.token?.uppercased() } == [tokens[2]])
        var headers = found.first.map(Self.headers) ?? [:]
        #expect(headers.removeValue(forKey: "apns-id") != nil)
        headers["content-length"] = nil
        #expect(
            headers == [
                "apns-topic": Settings.demoTopic, "apns-push-type": "alert", "apns-priority": "5", "apns-collapse-id": "score",
                "apns-expiration": "\(expiry)",
            ])
        #expect(exchanges.count == 3)
    }

    /// A device of a platform that nothing sends to: kept as it came, and what is sent to it is skipped, with the reason.
    func skip() async throws {
        let stored = try await hub.call(
            "POST", "/life/registrations?api-version=2020-06",
            body: """
                <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AdmRegistrationDescription \
                xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><Tags>kindle</Tags>\
                <AdmRegistrationId>kept:As-it_came</AdmRegistrationId></AdmRegistrationDescription></content></entry>
                """)
        #expect(stored.status == 200)
        #expect(stored.text.contains("<AdmRegistrationId>kept:As-it_came</AdmRegistrationId>"))
        let id = try await accepted(
            "/life/messages", [("ServiceBusNotification-Format", "adm"), ("ServiceBusNotification-Tags", "kindle")],
            #"{"data":{"message":"x"}}"#)
        let details = try await ended(id)
        #expect(details.state == .completed)
        #expect(details.outcomes == [OutcomeCounts(.adm, [.init(name: "Skipped", count: 1)])])
        let page = try await hub.fetch("GET", try #require(details.errorDetailsURL))
        let errors = try PnsFeedback.read(Array(page.text.utf8))
        #expect(page.status == 200)
        #expect(errors.map(\.handle) == ["kept:As-it_came"])
        #expect(errors.map(\.systemError) == ["Skipped"])
    }

    /// Two that are due at one moment, of which one is cancelled: the other comes then and not before, the cancelled never.
    func scheduleAndCancel() async throws {
        let due = (Date.now.timeIntervalSince1970 + 5).rounded(.up)
        let text = Date(timeIntervalSince1970: due).formatted(.iso8601)
        // .NET leaves out the zone, others do not.
        let time = ("ServiceBusNotification-ScheduleTime", hub.manner == .http1 ? String(text.dropLast()) : text)
        let (kept, dropped) = (Self.payload("on time"), Self.payload("never"))
        let tags = ("ServiceBusNotification-Tags", "all")
        let cancelled = try await accepted("/life/schedulednotifications", [Self.format, tags, time], dropped)
        let later = try await accepted("/life/schedulednotifications", [Self.format, tags, time], kept)
        #expect(try await state(of: later)?.state == .scheduled)
        let path = "/life/schedulednotifications/\(cancelled)?api-version=2020-06"
        try #require(try await hub.call("DELETE", path).status == 200)
        #expect(try await state(of: cancelled) == nil)
        try await expectTelemetry(of: later, ["Success": 3])
        let found = exchanges(of: kept)
        #expect(Set(found.compactMap { $0.token?.uppercased() }) == Set(tokens))
        #expect(found.count == 3)
        #expect(found.allSatisfy { $0.receivedAt >= Timestamp(seconds: Int64(due)) })
        #expect(exchanges(of: dropped).isEmpty)
        #expect(exchanges.count == 6)
    }

    /// A device that is gone: the next send says so, forgets it, and the feedback has it, once and with the send that met it.
    func bury() async throws {
        apns.invalidate(token: tokens[0], reason: .unregistered, at: SystemClock().now)
        let id = try await accepted(
            "/life/messages", [Self.format, ("ServiceBusNotification-Tags", "red")], Self.payload("to who is left"))
        try await expectTelemetry(of: id, ["Success": 1, "ExpiredChannel": 1])
        #expect(try await registered("red") == [tokens[1]])
        #expect(try await registered("all") == Set(tokens.suffix(2)))
        let container = try await hub.call("GET", "/life/feedbackcontainer?api-version=2020-06")
        #expect(container.status == 200)
        #expect(container.text.hasPrefix("https://\(hub.authority)/"))
        let documents = try await eventually("the feedback is there") {
            let found = try await feedback(in: container.text)
            return found.isEmpty ? nil : found
        }
        #expect(documents.map(\.handle) == [tokens[0]])
        #expect(documents.first?.notificationID == id)
        #expect(documents.first?.systemError == "ExpiredChannel")
        #expect(documents.first?.platform == "apple")
        let last = try await accepted(
            "/life/messages", [Self.format, ("ServiceBusNotification-Tags", "red")], Self.payload("last"))
        try await expectTelemetry(of: last, ["Success": 1])
        #expect(exchanges.count == 9, "two of the send that met the dead token, one of the last")
        // Nothing was sent twice, and nothing came of what was cancelled.
        let counts = tokens.map { apns.requests(for: $0) }
        #expect(counts.map(\.requests) == [3, 4, 2])
        #expect(counts.map(\.accepted) == [2, 4, 2])
    }

    private func feedback(in link: String) async throws -> [PnsFeedback] {
        let listed = try await hub.fetch("GET", link + "&restype=container&comp=list")
        #expect(listed.status == 200)
        let end = try #require(link.firstIndex(of: "?"))
        var found: [PnsFeedback] = []
        for blob in try ContainerListing.read(Array(listed.text.utf8)).blobs {
            let file = try await hub.fetch("GET", "\(link[..<end])/\(blob.name)\(link[end...])")
            #expect(file.status == 200)
            found += try PnsFeedback.read(Array(file.text.utf8))
        }
        return found
    }

    /// Sends, and gives the id of the send.
    private func accepted(_ path: String, _ headers: [(String, String)], _ payload: String) async throws -> String {
        let answer = try await hub.call("POST", path + "?api-version=2020-06", headers, body: payload)
        try #require(answer.status == 201 && answer.text.isEmpty, "\(answer.status) \(answer.text)")
        let id = try answer.locatedID()
        #expect(answer.headers.first(name: "Location") == "https://\(hub.authority)\(path)/\(id)?api-version=2020-06")
        return id
    }

    private func state(of id: String) async throws -> NotificationDetails? {
        let answer = try await hub.call("GET", "/life/messages/\(id)?api-version=2020-06")
        return answer.status == 404 ? nil : try NotificationDetails.read(Array(answer.text.utf8))
    }

    private func ended(_ id: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> NotificationDetails {
        try await eventually("the send has ended", sourceLocation: sourceLocation) {
            let details = try await state(of: id)
            return details?.state.isFinal == true ? details : nil
        }
    }

    /// Waits for the end of a send and compares its telemetry with what the local APNs recorded of its body.
    private func expectTelemetry(
        of id: String, _ wanted: [String: Int], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let details = try await ended(id, sourceLocation: sourceLocation)
        let outcomes = try #require(details.outcomes.first, sourceLocation: sourceLocation).outcomes
        let counts = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.name, $0.count) })
        #expect(details.state == .completed && counts == wanted, sourceLocation: sourceLocation)
        let asked = exchanges(of: try #require(details.body))
        #expect(asked.count { $0.answer?.status == 200 } == counts["Success"] ?? 0, sourceLocation: sourceLocation)
        #expect(asked.count { $0.answer?.status == 410 } == counts["ExpiredChannel"] ?? 0, sourceLocation: sourceLocation)
        #expect(asked.count == counts.values.reduce(0, +), sourceLocation: sourceLocation)
    }

    private static func headers(_ exchange: APNsExchange) -> [String: String] {
        Dictionary(exchange.headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
    }
}
