import APNsProtocol
import RichPushModel
import Testing

@testable import APNsEmulation

/// The table of Reference/APNs.md#4: every status with every reason, on every interface that it is documented for.
@Suite("The table of reasons")
struct ReasonTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let answer: String
        let door: APNsDoor
        var testDescription: String { "\(answer), \(door.rawValue)" }
    }

    private static let table: [(String, [APNsDoor])] = [
        ("200", [.device, .broadcast, .management]), ("201", [.management]), ("204", [.management]),
        ("400 BadCollapseId", [.device]), ("400 BadDeviceToken", [.device]), ("400 BadExpirationDate", [.device, .broadcast]),
        ("400 BadMessageId", APNsDoor.allCases), ("400 BadPriority", [.device, .broadcast]), ("400 BadTopic", [.device]),
        ("400 DeviceTokenNotForTopic", [.device]), ("400 DuplicateHeaders", [.device]), ("400 IdleTimeout", [.device]),
        ("400 InvalidPushType", APNsDoor.allCases), ("400 MissingDeviceToken", [.device]), ("400 MissingTopic", [.device]),
        ("400 PayloadEmpty", [.device, .broadcast]), ("400 TopicDisallowed", [.device, .broadcast]),
        ("400 FeatureNotEnabled", [.broadcast, .management]), ("400 MissingChannelId", [.broadcast, .management]),
        ("400 BadChannelId", [.broadcast, .management]), ("400 ChannelNotRegistered", [.broadcast, .management]),
        ("400 BadRequestParams", [.management]), ("400 BadRequestPayload", [.management]),
        ("400 MissingPushType", [.broadcast, .management]), ("400 CannotCreateChannelConfig", [.management]),
        ("403 BadCertificate", APNsDoor.allCases), ("403 BadCertificateEnvironment", APNsDoor.allCases),
        ("403 ExpiredProviderToken", APNsDoor.allCases), ("403 Forbidden", [.device]),
        ("403 InvalidProviderToken", APNsDoor.allCases), ("403 MissingProviderToken", APNsDoor.allCases),
        ("403 UnrelatedKeyIdInToken", [.device]), ("403 BadEnvironmentKeyInToken", [.device]),
        ("403 BadEnvironmentKeyIdInToken", [.device]), ("403 TopicMismatch", [.broadcast, .management]),
        ("404 BadPath", APNsDoor.allCases), ("405 MethodNotAllowed", APNsDoor.allCases), ("410 ExpiredToken", [.device]),
        ("410 Unregistered", [.device]), ("413 PayloadTooLarge", [.device, .broadcast]),
        ("429 TooManyProviderTokenUpdates", APNsDoor.allCases), ("429 TooManyRequests", APNsDoor.allCases),
        ("500 InternalServerError", APNsDoor.allCases), ("503 ServiceUnavailable", APNsDoor.allCases),
        ("503 Shutdown", APNsDoor.allCases),
    ]

    static let rows = table.flatMap { answer, doors in doors.map { Row(answer: answer, door: $0) } }

    @Test("every row is reached on every interface that it is documented for", arguments: rows)
    func reached(row: Row) throws {
        let producer = try #require(ReasonScenarios.all[row.answer], "no scenario for this row")
        var fixture = try EmulatorFixture()
        let verdict = try producer(&fixture, row.door)
        let answer = try #require(verdict.answer)
        #expect(EmulatorFixture.text(verdict) == row.answer)
        #expect(answer.idHeader == (row.door == .device ? "apns-id" : "apns-request-id"))
        #expect((answer.timestamp != nil) == (answer.status == 410))
        #expect((answer.reason == nil) == (answer.status < 300))
    }

    @Test("there is no scenario without a row, and no answer of the checks outside the table")
    func nothingElse() {
        #expect(Set(ReasonScenarios.all.keys) == Set(Self.table.map(\.0)))
    }

    @Test(
        "four reasons come in the debug data of GOAWAY",
        arguments: [APNsReason.idleTimeout, .badCertificate, .badCertificateEnvironment, .shutdown])
    func goAway(reason: APNsReason) async throws {
        try await RunningEmulator.run { rules in
            rules.expiredCertificate = .goAway
        } _: { emulator in
            let now = SystemClock().now
            var request = ClientCertificateRequest(bundleID: EmulatorFixture.bundleID, environments: [.production])
            if reason == .badCertificate { request.notAfter = now - .seconds(60) }
            let shows = reason == .badCertificate || reason == .badCertificateEnvironment
            let certificate = shows ? try emulator.apns.issueClientCertificate(request) : nil
            let client = try await emulator.connect(certificate: certificate)
            if reason == .shutdown { emulator.apns.inject(.shutdown) }
            if !shows { #expect(try await client.send(emulator.push()).status == (reason == .shutdown ? "503" : "200")) }
            // Not before: a connection that is still being made is ended without a word.
            if reason == .idleTimeout { emulator.apns.rules.idleLimit = .zero }
            try await client.channel.closeFuture.get()
            let goAway = try #require(await client.observation().goAways.last)
            #expect(goAway.data == #"{"reason":"\#(reason)"}"#)
            #expect(goAway.code == .noError)
            #expect(goAway.last == (shows ? 0 : 1))
        }
    }
}
