import Foundation
import RichPushModel
import Testing

@testable import SharedAccess

/// Replayed from recordings and rules: every request that four running clients sent, in their order, at their time and with their
/// signatures, against this server; and the answer judged by what the client does with it.
@Suite("Requests recorded from real clients")
struct RecordedRequestsTests {
    @Test(
        "each recorded request is admitted and answered as its client accepts", arguments: [HubClient.go, .php, .ruby, .python])
    func replay(_ client: HubClient) async throws {
        let recordings = try Recording.all(of: client)
        let first = try #require(recordings.first)
        let hub = try await HubUnderTest(
            hubs: ["hub-\(client.rawValue)"], start: Timestamp(seconds: Int64(first.time.timeIntervalSince1970)))
        var ids = ReplayedIDs()
        for (index, recording) in recordings.enumerated() {
            let elapsed = Int64(recording.time.timeIntervalSince1970) - hub.clock.now.seconds
            if elapsed > 0 { hub.clock.advance(by: .seconds(elapsed)) }
            let request = ids.request(of: recording)
            let answer = try await hub.call(request)
            let line = Comment(rawValue: "line \(index + 1): \(recording.method) \(recording.target): \(answer.body)")
            #expect(answer.status == recording.answer.status, line)
            try judge(answer, of: recording, request: request, client: client, line: line)
            ids.learn(from: recording, answer)
        }
    }

    private func judge(
        _ answer: ClientAnswer, of recording: Recording, request: ClientRequest, client: HubClient, line: Comment
    ) throws {
        if recording.answer.headers["location"] != nil {
            let authority = recording.header("host") ?? ""
            #expect(try !answer.id(as: client, asked: "https://\(authority)\(request.target)").isEmpty, line)
        }
        guard let body = recording.answer.body, !body.isEmpty else {
            #expect(answer.body.isEmpty, line)
            return
        }
        if body.hasPrefix("<entry") {
            #expect(
                try RegistrationReading.entry(answer).element
                    == body.firstMatch(of: #/<(\w+RegistrationDescription)/#).map { String($0.1) }, line)
        } else if body.hasPrefix("<feed") {
            _ = try RegistrationReading.feed(answer)
        } else if body.hasPrefix("<NotificationDetails") {
            _ = try TelemetryReading(answer)
        } else if body.hasPrefix("<NotificationOutcome") {
            #expect(answer.body.hasPrefix("<NotificationOutcome xmlns="), line)
        } else {
            let installation = try JSONDecoder().decode(InstallationReading.self, from: Data(answer.body.utf8))
            let expected = try JSONDecoder().decode(InstallationReading.self, from: Data(body.utf8))
            #expect(installation == expected, line)
        }
    }

    @Test("a recorded signature is worth nothing for another request, at another time or with a changed letter")
    func signatures() async throws {
        let recording = try #require(try Recording.all(of: .php).first { $0.method == "GET" })
        let time = Timestamp(seconds: Int64(recording.time.timeIntervalSince1970))
        let request = ReplayedIDs().request(of: recording)
        let late = try await HubUnderTest(hubs: ["hub-php"], start: time + .seconds(3600 + 301))
        #expect(try await late.call(request).status == 401)
        let hub = try await HubUnderTest(hubs: ["hub-php", "hub-other"], start: time)
        #expect(try await hub.call(request).status == 404)
        var other = request
        other.target = request.target.replacing("hub-php", with: "hub-other")
        #expect(try await hub.call(other).status == 401)
        var changed = request
        changed.headers = request.headers.map {
            ($0.name, $0.name == "authorization" ? $0.value.replacing("se=1", with: "se=2") : $0.value)
        }
        #expect(try await hub.call(changed).status == 401)
        var bare = request
        bare.headers = request.headers.filter { $0.name != "authorization" }
        #expect(try await hub.call(bare).status == 401)
    }
}

/// The part of an installation that the recorded client compares.
private struct InstallationReading: Decodable, Equatable {
    struct Template: Decodable, Equatable {
        var body: String
    }

    var installationId: String
    var platform: String
    var pushChannel: String
    var pushChannelExpired: Bool
    var tags: Set<String>?
    var templates: [String: Template]?
}

/// This server gives its own ids. Requests that name one which the recorded server gave are replayed with this server's, and signed
/// again in the client's own form if the id stands in the signed address.
private struct ReplayedIDs {
    private var ids: [String: String] = [:]

    func request(of recording: Recording) -> ClientRequest {
        var target = recording.target
        var authorization = recording.header("authorization") ?? ""
        for (recorded, own) in ids where target.contains(recorded) {
            target = target.replacing(recorded, with: own)
            if authorization.contains(recorded) { authorization = Self.signed(authorization.replacing(recorded, with: own)) }
        }
        let headers = recording.headers.map { field in
            (name: field[0], value: field[0] == "authorization" ? authorization : Self.repaired(field[1]))
        }
        return ClientRequest(recording.method, target, headers.filter { $0.name != "content-length" }, body: recording.body)
    }

    mutating func learn(from recording: Recording, _ answer: ClientAnswer) {
        guard recording.method == "POST" else { return }
        let own = answer.body.firstMatch(of: #/<RegistrationId>([^<]+)<\/RegistrationId>/#).map { String($0.1) }
        let location = (try? answer.location()).map { String($0.split(separator: "/").last?.prefix { $0 != "?" } ?? "") }
        if let recorded = recording.registrationID, let own = own ?? location { ids[recorded] = own }
    }

    /// Headers were recorded as Latin 1, a character a byte.
    private static func repaired(_ value: String) -> String {
        let bytes = value.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        return bytes.count == value.unicodeScalars.count ? String(decoding: bytes, as: UTF8.self) : value
    }

    private static func signed(_ authorization: String) -> String {
        let fields = authorization.dropFirst("SharedAccessSignature ".count).split(separator: "&").map {
            $0.split(separator: "=", maxSplits: 1).map(String.init)
        }
        func value(_ name: String) -> String { fields.first { $0[0] == name }?[1] ?? "" }
        let code = SharedAccessKey(HubUnderTest.fullKey)?.signature(audience: value("sr"), expiry: value("se")) ?? []
        let signature = Data(code).base64EncodedString().replacing("+", with: "%2B").replacing("/", with: "%2F").replacing(
            "=", with: "%3D")
        return "SharedAccessSignature " + fields.map { "\($0[0])=\($0[0] == "sig" ? signature : $0[1])" }.joined(separator: "&")
    }
}
