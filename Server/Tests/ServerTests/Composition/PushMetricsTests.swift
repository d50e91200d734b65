import APNsHTTP2
import APNsProtocol
import ClarionTesting
import FCMDelivery
import FCMProtocol
import Foundation
import HTTPService
import Logging
import PushHub
import RichPushModel
import SQLStorage
import Testing
import WebPushDelivery

@testable import ServerComposition
@testable import ServerDelivery
@testable import ServerObservability
@testable import ServerStorage

@Suite("Metrics of pushes")
struct PushMetricsTests {
    private let registry = PrometheusMetrics()
    private let notification = NotificationID()

    private func batch(_ count: Int, to platform: Platform = .apns) -> PushBatch {
        let target = PushBatch.Target(
            handle: DeviceToken(canonical: "AB"), pushID: PushID(notification: notification, record: RecordID("a")!))
        var batch = PushBatch(hub: HubID(1), bodies: [], headers: [], targets: Array(repeating: target, count: count))
        batch.platform = platform
        return batch
    }

    /// The lines of `/metrics`, comments left out.
    private var lines: Set<String> {
        Set(registry.render().split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") })
    }

    @Test("outcomes are counted by result and by a reason from a closed list")
    func outcomes() {
        let metrics = PushMetrics(factory: registry)
        let outcomes: [PushOutcome] =
            [
                .accepted, .accepted, .gone(since: Timestamp(seconds: 1)), .badToken, .rejected(reason: "DeviceTokenNotForTopic"),
                .retry(after: .seconds(1), reason: "TooManyRequests"), .notSent(reason: "unreachable"),
                .unknown(reason: "deadline"), .misconfigured(reason: "InvalidProviderToken"), .unsupported,
                .delayed(by: .seconds(1), reason: "unreachable"),
            ] + (1...1000).map { .rejected(reason: "Word\($0)") }
        metrics.sending(batch(outcomes.count), of: notification, retries: 0, doubtful: 0)
        metrics.sent(batch(outcomes.count), of: notification, outcomes: PushOutcomes(outcomes))
        let counted = lines.filter { $0.hasPrefix("clarion_push_outcomes_total") && !$0.hasSuffix(" 0") }
        #expect(
            counted == [
                #"clarion_push_outcomes_total{reason="none",result="accepted",service="apns"} 2"#,
                #"clarion_push_outcomes_total{reason="none",result="gone",service="apns"} 1"#,
                #"clarion_push_outcomes_total{reason="none",result="bad_token",service="apns"} 1"#,
                #"clarion_push_outcomes_total{reason="DeviceTokenNotForTopic",result="rejected",service="apns"} 1"#,
                #"clarion_push_outcomes_total{reason="other",result="rejected",service="apns"} 1000"#,
                #"clarion_push_outcomes_total{reason="TooManyRequests",result="retry",service="apns"} 1"#,
                #"clarion_push_outcomes_total{reason="unreachable",result="not_sent",service="apns"} 2"#,
                #"clarion_push_outcomes_total{reason="deadline",result="unknown",service="apns"} 1"#,
                #"clarion_push_outcomes_total{reason="InvalidProviderToken",result="misconfigured",service="apns"} 1"#,
                #"clarion_push_outcomes_total{reason="none",result="unsupported",service="apns"} 1"#,
            ])
    }

    @Test("each reason for which a credential or a topic is refused is served as 0 before the first refusal")
    func misconfiguredFromTheStart() {
        let metrics = PushMetrics(factory: registry)
        let before = lines.filter { $0.hasPrefix("clarion_push_outcomes_total") }
        let reasons = [
            "BadCertificate", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "BadTopic",
            "ExpiredProviderToken", "InvalidProviderToken", "MissingProviderToken", "TopicDisallowed", "UnrelatedKeyIdInToken",
            "credential-refused", "other",
        ]
        let series = { (reason: String, service: String) in
            #"clarion_push_outcomes_total{reason="\#(reason)",result="misconfigured",service="\#(service)"} 0"#
        }
        #expect(before.isSuperset(of: reasons.map { series($0, "apns") }))
        let ofFCM = ["SENDER_ID_MISMATCH", "THIRD_PARTY_AUTH_ERROR", "PERMISSION_DENIED", "4xx", "other"]
        #expect(before.isSuperset(of: ofFCM.map { series($0, "fcm") }))
        #expect(before.isSuperset(of: ["4xx", "other"].map { series($0, "web-push") }))
        // Series that cannot rise would only fill the dashboard.
        #expect(before.count < 30)
        #expect(before.allSatisfy { $0.contains(#"result="misconfigured""#) && $0.hasSuffix(" 0") })
        // The server's own words are no reasons of APNs.
        let outcomes = ["no APNs credential is set", "status 403"].map { PushOutcome.misconfigured(reason: $0) }
        metrics.sent(batch(outcomes.count), of: notification, outcomes: PushOutcomes(outcomes))
        #expect(lines.filter { $0.hasPrefix("clarion_push_outcomes_total") }.count == before.count)
    }

    @Test(
        "outcomes of FCM and of Web Push have their service, and reasons from closed lists of their own",
        arguments: [
            (Platform.gcm, "fcm", "INVALID_ARGUMENT at message.android.ttl", "INVALID_ARGUMENT"),
            (.fcmv1, "fcm", "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"), (.fcmv1, "fcm", "status 502", "5xx"),
            (.fcmv1, "fcm", FCMTransport.paced, "paced"), (.fcmv1, "fcm", "throttled", "throttled"),
            (.fcmv1, "fcm", FCMTransport.noTime, "deadline"),
            (.fcmv1, "fcm", "tls-failed", "tls-failed"), (.fcmv1, "fcm", "DeviceTokenNotForTopic", "other"),
            (.fcmv1, "fcm", "the token endpoint answers invalid_grant", "other"), (.fcmv1, "fcm", "", "none"),
            (.browser, "web-push", "status 429", "4xx"), (.browser, "web-push", "status 599", "5xx"),
            (.browser, "web-push", "status 600", "other"), (.browser, "web-push", "status", "other"),
            (.browser, "web-push", WebPushTransport.resting + ": status 503", "service-unavailable"),
            (.browser, "web-push", OutboundFailure.unreachable.reason(late: ""), "unreachable"),
            (.browser, "web-push", OutboundFailure.notProcessed.reason(late: ""), "refused-stream"),
            (.browser, "web-push", OutboundFailure.late.reason(late: WebPushClient.noConnection), "deadline"),
            (.browser, "web-push", "INTERNAL", "other"), (.apns, "apns", "status 503", "other"),
        ])
    func services(platform: Platform, service: String, reason: String, word: String) {
        let metrics = PushMetrics(factory: registry)
        metrics.sent(batch(2, to: platform), of: notification, outcomes: [.accepted, .retry(after: .seconds(1), reason: reason)])
        let counted = lines.filter { $0.hasPrefix("clarion_push_outcomes_total") && !$0.hasSuffix(" 0") }
        #expect(
            counted == [
                #"clarion_push_outcomes_total{reason="none",result="accepted",service="\#(service)"} 1"#,
                #"clarion_push_outcomes_total{reason="\#(word)",result="retry",service="\#(service)"} 1"#,
            ])
    }

    @Test("a thousand strange answers of each push service add one series")
    func bounded() {
        let metrics = PushMetrics(factory: registry)
        let count = { lines.count { $0.hasPrefix("clarion_push_outcomes_total") } }
        let before = count()
        for platform in HubCredential.platforms {
            let outcomes = (1...1000).map { PushOutcome.unknown(reason: "WORD_\($0) at field\($0)") }
            metrics.sent(batch(outcomes.count, to: platform), of: notification, outcomes: PushOutcomes(outcomes))
        }
        #expect(count() == before + HubCredential.platforms.count)
    }

    @Test("every answer of FCM with which pushes wait for an operator has its series from the start")
    func misconfiguredByFCM() {
        let dispositions: Set<FCMAnswer.Disposition> = [.thirdPartyAuth, .permissionDenied, .wrongProject]
        let generals = [200: "OK", 302: "UNKNOWN", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"]
        // Google's word for a quota comes with 429 alone.
        let details = FCMAnswer.codes.subtracting(["RESOURCE_EXHAUSTED"]).map {
            #","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}]"#
        }
        var seen: Set<FCMAnswer.Disposition> = []
        for (status, general) in generals {
            let bodies = (details + [""]).map { #"{"error":{"status":"\#(general)"\#($0)}}"# }
            for body in bodies + ["<html>", "{}"] {
                let answer = FCMAnswer(status: status, body: Array(body.utf8), now: Timestamp(seconds: 0))
                guard dispositions.contains(answer.disposition) else { continue }
                seen.insert(answer.disposition)
                let outcome = OutcomeClass(.misconfigured(reason: answer.reason), of: .fcm)
                #expect(OutcomeClass.misconfigured.contains(outcome), "\(status) \(body)")
            }
        }
        #expect(seen == dispositions)
    }

    @Test("what is said of a batch at once is counted for each of its targets")
    func common() {
        let metrics = PushMetrics(factory: registry)
        metrics.sending(batch(1_000), of: notification, retries: 0, doubtful: 0)
        metrics.sent(batch(1_000), of: notification, outcomes: PushOutcomes(repeating: .accepted, count: 1_000))
        metrics.sending(batch(7), of: notification, retries: 0, doubtful: 0)
        metrics.sent(batch(7), of: notification, outcomes: PushOutcomes(repeating: .notSent(reason: "unreachable"), count: 7))
        let counted = lines.filter { $0.hasPrefix("clarion_push_outcomes_total") && !$0.hasSuffix(" 0") }
        #expect(
            counted == [
                #"clarion_push_outcomes_total{reason="none",result="accepted",service="apns"} 1000"#,
                #"clarion_push_outcomes_total{reason="unreachable",result="not_sent",service="apns"} 7"#,
            ])
    }

    @Test("each accepted push is timed from the moment at which its send was due, others are not")
    func latency() {
        let clock = ManualClock()
        let metrics = PushMetrics(factory: registry, clock: clock)
        var batch = batch(3)
        batch.dueAt = clock.now - .seconds(2)
        metrics.sent(batch, of: notification, outcomes: [.accepted, .badToken, .accepted])
        batch.platform = .fcmv1
        metrics.sent(batch, of: notification, outcomes: [.accepted, .badToken, .badToken])
        batch.dueAt = nil
        metrics.sent(batch, of: notification, outcomes: [.accepted, .accepted, .accepted])
        #expect(
            lines.isSuperset(of: [
                #"clarion_push_latency_seconds_bucket{service="apns",le="1"} 0"#,
                #"clarion_push_latency_seconds_bucket{service="apns",le="2.5"} 2"#,
                #"clarion_push_latency_seconds_count{service="apns"} 2"#, #"clarion_push_latency_seconds_sum{service="apns"} 4"#,
                #"clarion_push_latency_seconds_count{service="fcm"} 1"#,
                #"clarion_push_latency_seconds_count{service="web-push"} 0"#,
            ]))
    }

    @Test("the gauges of pushes in flight and leased slices go up and come down again; retries and sends are counted")
    func levels() {
        let metrics = PushMetrics(factory: registry)
        metrics.leased(.large)
        metrics.leased(.large)
        metrics.sending(batch(3), of: notification, retries: 0, doubtful: 0)
        metrics.sending(batch(2), of: notification, retries: 2, doubtful: 1)
        #expect(
            lines.isSuperset(of: [
                "clarion_pushes_in_flight 5", "clarion_push_retries_total 2", "clarion_push_doubtful_retries_total 1",
                #"clarion_slices_leased{weight="large"} 2"#,
            ]))
        metrics.sent(batch(2), of: notification, outcomes: [])
        metrics.sent(batch(3), of: notification, outcomes: [])
        metrics.released(.large)
        metrics.ended(notification, in: HubID(1), state: .completed)
        #expect(
            lines.isSuperset(of: [
                "clarion_pushes_in_flight 0", #"clarion_slices_leased{weight="large"} 1"#,
                #"clarion_sends_ended_total{state="completed"} 1"#,
            ]))
    }

    @Test("connections that fail and requests are served as 0 before there is a client")
    func clientFromTheStart() {
        _ = NodeGauges(factory: registry)
        #expect(lines == ["clarion_apns_connect_failures_total 0", "clarion_apns_requests_total 0"])
    }

    @Test("the client's totals become counters that only grow, its levels gauges, and a strange GOAWAY reason is no label")
    func client() async {
        var gauges = NodeGauges(factory: registry)
        var numbers = APNsClientMetrics()
        numbers.connections = 2
        numbers.streamLimit = 1000
        numbers.window = 65_535
        numbers.roundTrip = .milliseconds(250)
        numbers.requests = 7
        numbers.resets = 1
        numbers.goAwaysByReason = [.shutdown: 2, APNsReason(rawValue: ""): 1]
        gauges.write(.init(clients: 3, sum: numbers))
        gauges.write(.init(clients: 3, sum: numbers))
        numbers.connections = 1
        numbers.requests = 9
        gauges.write(.init(clients: 2, sum: numbers))
        gauges.write(tokenAge: .seconds(61))
        #expect(
            lines.isSuperset(of: [
                #"clarion_apns_connections{phase="ready"} 1"#, "clarion_apns_stream_limit 1000", "clarion_apns_requests_total 9",
                "clarion_apns_stream_resets_total 1", #"clarion_apns_goaways_total{reason="Shutdown"} 2"#,
                #"clarion_apns_goaways_total{reason="none"} 1"#, "clarion_apns_token_age_seconds 61",
                "clarion_apns_connect_failures_total 0", "clarion_apns_window_bytes 65535",
                "clarion_apns_round_trip_seconds 0.25", "clarion_apns_clients 2",
            ]))
    }

    @Test("the totals of the client of FCM become counters that only grow, and its levels gauges")
    func messages() {
        var gauges = NodeGauges(factory: registry)
        var numbers = APNsClientMetrics()
        (numbers.connections, numbers.streamLimit, numbers.requests, numbers.goAways) = (2, 200, 7, 1)
        gauges.write(fcm: numbers)
        (numbers.connections, numbers.requests) = (1, 9)
        gauges.write(fcm: numbers)
        #expect(
            lines.isSuperset(of: [
                #"clarion_fcm_connections{phase="ready"} 1"#, #"clarion_fcm_connections{phase="connecting"} 0"#,
                "clarion_fcm_stream_limit 200", "clarion_fcm_requests_total 9", "clarion_fcm_goaways_total 1",
                "clarion_fcm_connect_failures_total 0",
            ]))
    }

    @Test("the backlog is read with everything else, and a store that fails leaves the rest alone")
    func upkeep() async {
        let clock = ManualClock()
        // The same for both: what was counted is added to the counters once.
        var gauges = NodeGauges(factory: registry)
        for store in [
            StubTelemetry(
                backlog: .init(due: [.single: 4, .small: 3], waiting: 2, leased: 1, oldestDueAt: clock.now - .seconds(7))),
            StubTelemetry(),
        ] {
            let upkeep = MetricsUpkeep(
                telemetry: store, clients: { .init(clients: 1, sum: APNsClientMetrics()) }, tokenAge: { .seconds(5) },
                fcm: { APNsClientMetrics() },
                databaseLoad: {
                    DatabaseLoad(
                        reads: .init(size: 4, inUse: 3, waiting: 0), writes: .init(size: 1, inUse: 1, waiting: 9), commits: 17)
                },
                freeBytes: { 12_345 },
                process: { ProcessNumbers(cpuSeconds: 1.5, residentBytes: 8192, startedAt: 1000, openFiles: 5) },
                factory: registry, clock: clock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            await upkeep.collect(into: &gauges, TroubleLog("a test", logger: upkeep.logger))
        }
        #expect(
            lines.isSuperset(of: [
                #"clarion_slices{stage="due_single"} 4"#, #"clarion_slices{stage="due_small"} 3"#,
                #"clarion_slices{stage="due_large"} 0"#, #"clarion_slices{stage="waiting"} 2"#,
                #"clarion_slices{stage="leased"} 1"#,
                "clarion_apns_token_age_seconds 5", "clarion_dispatch_lag_seconds 7", "clarion_fcm_requests_total 0",
                #"clarion_database_connections{pool="read"} 4"#, #"clarion_database_connections_in_use{pool="read"} 3"#,
                #"clarion_database_transactions_waiting{pool="write"} 9"#, "clarion_database_commits_total 17",
                "clarion_disk_free_bytes 12345", "process_resident_memory_bytes 8192", "process_cpu_seconds_total 1.5",
                "process_start_time_seconds 1000", "process_open_fds 5",
            ]))
    }

    @Test("every role has its number of nodes, also when the last one of it is gone")
    func nodes() {
        let members = ["api", "api", "worker"].map {
            NodeMember(
                id: $0, role: $0, version: "1", schemaStep: nil, startedAt: Timestamp(seconds: 0), seenAt: Timestamp(seconds: 0))
        }
        NodeMembership.count(members, in: registry)
        #expect(
            lines.isSuperset(of: [
                #"clarion_nodes{role="all"} 0"#, #"clarion_nodes{role="api"} 2"#, #"clarion_nodes{role="worker"} 1"#,
            ]))
        NodeMembership.count([members[0]], in: registry)
        #expect(lines.isSuperset(of: [#"clarion_nodes{role="api"} 1"#, #"clarion_nodes{role="worker"} 0"#]))
    }
}

/// A store that knows the backlog, or fails.
private struct StubTelemetry: TelemetryStore {
    struct Failure: Error {}

    var backlog: DispatchBacklog?

    func telemetry(of id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> NotificationTelemetry? { nil }

    func telemetry(
        of ids: [NotificationID], in hub: HubID, at now: Timestamp
    ) async throws -> [NotificationID: NotificationTelemetry] { [:] }

    func failures(
        of id: NotificationID, outcome: TargetOutcome?, after place: SliceKey, limit: Int, in hub: HubID
    ) async throws -> [TargetFailure] { [] }

    func waves(of id: NotificationID, in hub: HubID) async throws -> [WaveProgress] { [] }

    func backlog(at now: Timestamp) async throws -> DispatchBacklog {
        guard let backlog else { throw Failure() }
        return backlog
    }

    func feedback(after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback] { [] }

    func feedback(of id: NotificationID, after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback] { [] }

    func errors(of id: NotificationID, notedAt moment: Timestamp, limit: Int, in hub: HubID) async throws -> [SendError] { [] }

    func groupOutcomes(of id: NotificationID, in hub: HubID) async throws -> [Int: [TargetOutcome: Int]] { [:] }

    func outcomeReports(of id: NotificationID, limit: Int, in hub: HubID) async throws -> [OutcomeReport] { [] }

    func removeOutcomeReports(_ numbers: [Int64], of id: NotificationID, in hub: HubID) async throws {}

    func capCount(of device: RecordID, for id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> CapCount? { nil }

    func sweep(endedBefore moment: Timestamp, at now: Timestamp, limit: Int) async throws -> Int { 0 }
}
