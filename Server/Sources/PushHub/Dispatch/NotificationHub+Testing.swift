import RichPushModel
import ServiceErrors
import TagExpressions

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension NotificationHub {
    /// Sends to a few devices of the audience, or to the first handles, at once, and returns the push service's answer for each device
    /// (Reference/AzureNotificationHubs.md#2-10). `Limits.testTargets` is the largest number of devices. The hub takes no device out of
    /// use because of these answers. Throws as `send` does.
    ///
    /// With an idempotency key, which has to identify the whole content, the outcomes are stored without handles. A call with the
    /// same key returns them and sends nothing. While the first call is still running, the second waits up to `testWait` and then
    /// throws `overloaded`.
    public func test(_ command: SendCommand, through transport: any PushTransport) async throws -> TestSendReport {
        let id = NotificationID()
        let prepared = try await prepared(command, id)
        guard let text = command.idempotencyKey else {
            let report = await run(prepared, id, through: transport)
            await note(report, prepared)
            return report
        }
        try Self.check(idempotencyKey: text)
        let key = TestSendKey(text, id: id)
        let start = clock.uptime
        while true {
            let now = clock.now
            let abandoned = max(now - Self.testAbandoned, settings.aloneSince ?? Timestamp(milliseconds: 0))
            let taking = try await stores.intake.take(key, abandonedBefore: abandoned, in: self.id, at: now)
            switch taking {
            case .new(let first):
                let mine = first == id ? prepared : try await self.prepared(command, first)
                let report = await run(mine, first, through: transport)
                await keep(report, TestSendKey(text, id: first))
                await note(report, mine)
                return report
            case .taken(let id, let answer?):
                return try await report(TestSendRecord(bytes: answer), id, command.recipients)
            case .taken(_, nil):
                guard clock.uptime - start < Self.testWait else {
                    throw ServiceError(.overloaded, "the same test send is still under way", retryAfter: 5)
                }
                try await clock.sleep(for: Self.testPoll)
            }
        }
    }

    /// How long a second call waits for the first, how often it polls, and when a call without an answer counts as abandoned. The
    /// push deadline is shorter.
    static let testWait = Duration.seconds(20)
    private static let testPoll = Duration.milliseconds(200)
    static let testAbandoned = Duration.seconds(360)

    /// A test send that passed every check.
    private struct PreparedTest {
        var message: AcceptedMessage
        /// One for each platform.
        var plans: [PagePlan]
        var slice: SliceID
        var recipients: SendRecipients
        var startedAt: Timestamp
    }

    private func prepared(_ command: SendCommand, _ notification: NotificationID) async throws -> PreparedTest {
        let now = clock.now
        let check = MessageCheck(now: now, dueAt: now, fillsCollapseID: settings.fillsCollapseID, limits: settings.limits)
        let message = try check.accepted(command.message, as: command.format, id: notification)
        let recipients = try checked(command.recipients, command.format)
        let sample = try await testTargets(recipients, command.format)
        let slice = SliceID(hub: id, notification: notification, number: 0)
        let lease = SliceLease(id: slice, cursor: .beforeAll, last: .last, weight: .single, epoch: 0)
        let plans = Self.byPlatform(sample.targets).map { targets in
            var message = message
            message.templatePlatform = targets[0].platform
            var page = SlicePage(
                state: .dispatching, message: message, work: .walk(.init(targets: targets, through: .last)), pendingCount: 0,
                nextPendingAt: nil)
            page.templates = sample.templates
            var filling = TemplateFilling()
            return PagePlan(page, lease: lease, now: now, horizon: .zero, templates: filling.fill(page, of: notification))
        }
        return PreparedTest(message: message, plans: plans, slice: slice, recipients: recipients, startedAt: now)
    }

    /// The targets of each platform, in their order.
    private static func byPlatform(_ targets: [TargetPage.Target]) -> [[TargetPage.Target]] {
        Dictionary(grouping: targets, by: \.platform).sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
    }

    private func run(
        _ test: PreparedTest, _ id: NotificationID, through transport: any PushTransport
    ) async -> TestSendReport {
        let results = await withTaskGroup { group in
            for (place, plan) in test.plans.enumerated() {
                group.addTask {
                    let batch = plan.batch(test.message, of: test.slice)
                    return (place, Self.results(plan, plan.sends.isEmpty ? [] : await transport.send(batch)))
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return TestSendReport(id: id, results: test.plans.indices.flatMap { results[$0] ?? [] })
    }

    /// The pushes have been sent, so a failure to store their outcomes must not keep the caller from getting them.
    private func keep(_ report: TestSendReport, _ key: TestSendKey) async {
        do {
            try await stores.intake.keep(try TestSendRecord(report).bytes, for: key, in: id)
        } catch {
            logger.warning("The outcome of a test send could not be kept", metadata: ["error": "\(error)"])
        }
    }

    /// Makes the send known to telemetry under the id in the answer to its caller.
    private func note(_ report: TestSendReport, _ test: PreparedTest) async {
        let send = AcceptedSend(
            hub: id, id: report.id, message: test.message, recipients: test.recipients, enqueuedAt: test.startedAt,
            dueAt: test.startedAt, slices: SlicePlan(handles: report.results.count))
        var outcomes: [Platform: [TargetOutcome: Int]] = [:]
        for result in report.results { outcomes[result.platform, default: [:]][result.outcome, default: 0] += 1 }
        do {
            try await stores.intake.note(EndedTestSend(send: send, endedAt: clock.now, outcomes: outcomes))
        } catch {
            logger.warning("A test send could not be noted for telemetry", metadata: ["error": "\(error)"])
        }
    }

    /// The report of the call that came first. A handle is that of the device now, empty when it has gone.
    private func report(
        _ kept: TestSendRecord, _ id: NotificationID, _ recipients: SendRecipients
    ) async throws -> TestSendReport {
        let handles = recipients.handles ?? []
        var results: [TestSendReport.Result] = []
        for (index, result) in kept.results.enumerated() {
            let record = result.record.flatMap { RecordID($0) }
            var handle = index < handles.count ? handles[index] : DeviceToken(canonical: "")
            if let record { handle = try await stores.devices.device(record, in: self.id)?.handle ?? DeviceToken(canonical: "") }
            results.append(
                TestSendReport.Result(
                    platform: Platform(rawValue: result.platform), handle: handle, record: record,
                    outcome: TargetOutcome(rawValue: result.outcome) ?? .unknown,
                    ending: result.ending.flatMap(RetryTable.Ending.init(rawValue:)), reason: result.reason))
        }
        return TestSendReport(id: id, results: results)
    }

    private struct TestSample {
        var targets: [TargetPage.Target] = []
        var templates: [TemplateID: DeviceTemplate] = [:]
    }

    private func testTargets(_ recipients: SendRecipients, _ format: SendFormat) async throws -> TestSample {
        if case .handles(let handles) = recipients, case .native(let platform) = format {
            let targets = handles.prefix(settings.limits.testTargets).enumerated().map { index, handle in
                TargetPage.Target(handle: handle, platform: platform, position: Int64(index) + 1)
            }
            return TestSample(targets: targets)
        }
        var sample = TestSample()
        let records = try await self.sample(recipients.audience, format: format, limit: settings.limits.testTargets)
        for (index, record) in records.enumerated() {
            // Each record's own number will do: nothing else is filled beside them.
            let template = record.template.map { _ in TemplateID(Int64(index)) }
            guard let target = TargetPage.Target(record, template: template) else { continue }
            sample.targets.append(target)
            if let template { sample.templates[template] = record.template }
        }
        return sample
    }

    private static func results(_ plan: PagePlan, _ outcomes: PushOutcomes) -> [TestSendReport.Result] {
        var said: [Int: PushOutcome] = [:]
        for (position, index) in plan.sends.enumerated() where position < outcomes.count { said[index] = outcomes[position] }
        return plan.indices.map { index in
            let (target, said, settled) = (plan.page[index], said[index], plan.settled[index])
            let outcome = settled ?? said.map { testOutcome($0, target) } ?? .unknown
            return TestSendReport.Result(
                platform: target.platform, handle: target.handle, record: target.record, outcome: outcome,
                ending: settled == nil ? RetryTable.Ending(said ?? .unknown(reason: "")) : nil, reason: said?.reason)
        }
    }

    private static func testOutcome(_ outcome: PushOutcome, _ target: TargetPage.Target) -> TargetOutcome {
        switch TargetVerdict(outcome, registeredAt: target.registeredAt) {
        case .settled(let outcome): outcome
        case .again(let cause, _): cause.lastOutcome
        case .notSent: PendingTarget.Cause.notSent.lastOutcome
        }
    }
}

/// What became of a test send, device by device (Reference/AzureNotificationHubs.md#2-10).
public struct TestSendReport: Hashable, Sendable {
    /// One device.
    public struct Result: Hashable, Sendable {
        public var platform: Platform
        public var handle: DeviceToken
        /// Absent for a direct send.
        public var record: RecordID?
        public var outcome: TargetOutcome
        /// How the one try ended; absent when the push was decided without one.
        public var ending: RetryTable.Ending?
        /// The reason from the push service or the transport, if there was one.
        public var reason: String?
    }

    public var id: NotificationID
    public var results: [Result]

    /// How many the push service took.
    public var successes: Int { results.count { $0.outcome == .accepted } }
}

/// The stored part of a test send's report, which a second call with the same key returns. Handles are left out: the devices or
/// the call have them.
struct TestSendRecord: Codable, Hashable {
    struct Result: Codable, Hashable {
        var platform: String
        /// Absent for a direct send.
        var record: String?
        var outcome: String
        var ending: String?
        var reason: String?
    }

    var results: [Result]

    init(_ report: TestSendReport) {
        results = report.results.map {
            Result(
                platform: $0.platform.rawValue, record: $0.record?.text, outcome: $0.outcome.rawValue,
                ending: $0.ending?.rawValue, reason: $0.reason)
        }
    }

    init(bytes: [UInt8]) throws { self = try JSONDecoder().decode(TestSendRecord.self, from: Data(bytes)) }

    var bytes: [UInt8] { get throws { Array(try JSONEncoder().encode(self)) } }
}
