import RichPushModel
import ServiceErrors
import TagExpressions

extension NotificationHub {
    /// Sends to a few devices of the audience, or to the first handles, at once, waits for the answers and says them device by
    /// device (Reference/AzureNotificationHubs.md#2-10); how many, `Limits.testTargets` says. What the push service says of
    /// handles is told to the caller only. Throws as `send` does.
    ///
    /// With an idempotency key, which has to stand for the whole content, the outcomes are kept, without handles: a call with the
    /// same key is told them and sends nothing. While the first is still at it the second waits, for `testWait` at most, and then
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

    /// How long a repeat waits for the first call, how often it looks, and after what time a call without an answer has died: the
    /// push service has a deadline of its own, which is shorter.
    static let testWait = Duration.seconds(20)
    private static let testPoll = Duration.milliseconds(200)
    static let testAbandoned = Duration.seconds(360)

    /// A test send that passed every check.
    private struct PreparedTest {
        var message: AcceptedMessage
        var plan: PagePlan
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
        let walk = SlicePage.Walk(targets: sample.targets, through: .last)
        var page = SlicePage(
            state: .dispatching, message: message, work: .walk(walk), pendingCount: 0, nextPendingAt: nil)
        page.templates = sample.templates
        let slice = SliceID(hub: id, notification: notification, number: 0)
        let lease = SliceLease(id: slice, cursor: .beforeAll, last: .last, weight: .single, epoch: 0)
        var filling = TemplateFilling()
        let plan = PagePlan(page, lease: lease, now: now, horizon: .zero, templates: filling.fill(page, of: notification))
        return PreparedTest(message: message, plan: plan, slice: slice, recipients: recipients, startedAt: now)
    }

    private func run(
        _ test: PreparedTest, _ id: NotificationID, through transport: any PushTransport
    ) async -> TestSendReport {
        let outcomes = test.plan.sends.isEmpty ? [] : await transport.send(test.plan.batch(test.message, of: test.slice))
        return TestSendReport(id: id, results: Self.results(test.plan, outcomes))
    }

    /// The pushes have left: that their outcomes are told counts more than that they are kept.
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
            try await stores.intake.note(EndedTestSend(send, endedAt: clock.now, outcomes: outcomes))
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
            var handle = index < handles.count ? handles[index] : DeviceHandle(canonical: "")
            if let record { handle = try await stores.devices.device(record, in: self.id)?.handle ?? DeviceHandle(canonical: "") }
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
        case .unsent: PendingTarget.Cause.unsent.lastOutcome
        }
    }
}
