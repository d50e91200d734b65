import APNsProtocol
import RichPushModel
import Testing

@testable import APNsEmulation

/// The table of Reference/APNs.md#4: every status with every reason, on every interface that it is documented for.
@Suite("The table of reasons")
struct ReasonTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let answer: String
        let endpoint: APNsEndpoint
        var testDescription: String { "\(answer), \(endpoint.rawValue)" }
    }

    private static let table: [(String, [APNsEndpoint])] = [
        ("200", [.device, .broadcast, .management]), ("201", [.management]), ("204", [.management]),
        ("400 BadCollapseId", [.device]), ("400 BadDeviceToken", [.device]), ("400 BadExpirationDate", [.device, .broadcast]),
        ("400 BadMessageId", APNsEndpoint.allCases), ("400 BadPriority", [.device, .broadcast]), ("400 BadTopic", [.device]),
        ("400 DeviceTokenNotForTopic", [.device]), ("400 DuplicateHeaders", [.device]), ("400 IdleTimeout", [.device]),
        ("400 InvalidPushType", APNsEndpoint.allCases), ("400 MissingDeviceToken", [.device]), ("400 MissingTopic", [.device]),
        ("400 PayloadEmpty", [.device, .broadcast]), ("400 TopicDisallowed", [.device, .broadcast]),
        ("400 FeatureNotEnabled", [.broadcast, .management]), ("400 MissingChannelId", [.broadcast, .management]),
        ("400 BadChannelId", [.broadcast, .management]), ("400 ChannelNotRegistered", [.broadcast, .management]),
        ("400 BadRequestParams", [.management]), ("400 BadRequestPayload", [.management]),
        ("400 MissingPushType", [.broadcast, .management]), ("400 CannotCreateChannelConfig", [.management]),
        ("403 BadCertificate", APNsEndpoint.allCases), ("403 BadCertificateEnvironment", APNsEndpoint.allCases),
        ("403 ExpiredProviderToken", APNsEndpoint.allCases), ("403 Forbidden", [.device]),
        ("403 InvalidProviderToken", APNsEndpoint.allCases), ("403 MissingProviderToken", APNsEndpoint.allCases),
        ("403 UnrelatedKeyIdInToken", [.device]), ("403 BadEnvironmentKeyInToken", [.device]),
        ("403 BadEnvironmentKeyIdInToken", [.device]), ("403 TopicMismatch", [.broadcast, .management]),
        ("404 BadPath", APNsEndpoint.allCases), ("405 MethodNotAllowed", APNsEndpoint.allCases), ("410 ExpiredToken", [.device]),
        ("410 Unregistered", [.device]), ("413 PayloadTooLarge", [.device, .broadcast]),
        ("429 TooManyProviderTokenUpdates", APNsEndpoint.allCases), ("429 TooManyRequests", APNsEndpoint.allCases),
        ("500 InternalServerError", APNsEndpoint.allCases), ("503 ServiceUnavailable", APNsEndpoint.allCases),
        ("503 Shutdown", APNsEndpoint.allCases),
    ]

    static let rows = table.flatMap { answer, endpoints in endpoints.map { Row(answer: answer, endpoint: $0) } }

    @Test("every row is reached on every interface that it is documented for", arguments: rows)
    func reached(row: Row) throws {
        let producer = try #require(ReasonScenarios.all[row.answer], "no scenario for this row")
        var fixture = try EmulatorFixture()
        let verdict = try producer(&fixture, row.endpoint)
        let answer = try #require(verdict.answer)
        #expect(EmulatorFixture.text(verdict) == row.answer)
        #expect(answer.idHeader == (row.endpoint == .device ? "apns-id" : "apns-request-id"))
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
