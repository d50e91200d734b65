import RichPushModel
import ServiceErrors
import TagExpressions

extension NotificationHub {
    /// Sends to a few devices of the audience, or to the first handles, at once, waits for the answers and says them device by
    /// device (Azure reference 2.10); how many, `Limits.testTargets` says. Nothing of it is stored, and what the push service says of handles is told to
    /// the caller only. Throws as `send` does.
    public func test(_ command: SendCommand, through transport: any PushTransport) async throws -> TestSendReport {
        let now = clock.now
        let notification = NotificationID()
        let check = MessageCheck(now: now, dueAt: now, fillsCollapseID: settings.fillsCollapseID, limits: settings.limits)
        let message = try check.accepted(command.message, as: command.format, id: notification)
        let recipients = try checked(command.recipients, command.format)
        let sample = try await testMembers(recipients, command.format)
        let walk = SlicePage.Walk(candidates: sample.members.map { .init(member: $0, isSkipped: false) }, through: .last)
        var page = SlicePage(
            state: .dispatching, message: message, work: .walk(walk), pendingCount: 0, nextPendingAt: nil)
        page.templates = sample.templates
        let slice = SliceID(hub: id, notification: notification, number: 0)
        let lease = SliceLease(id: slice, cursor: .beforeAll, last: .last, weight: .single, epoch: 0)
        var filling = TemplateFilling()
        let plan = PagePlan(page, lease: lease, now: now, horizon: .zero, templates: filling.fill(page))
        let outcomes = plan.sends.isEmpty ? [] : await transport.send(plan.batch(message, of: slice))
        return TestSendReport(id: notification, results: Self.results(plan, outcomes))
    }

    private struct TestSample {
        var members: [AudienceMember] = []
        var templates: [TemplateID: DeviceTemplate] = [:]
    }

    private func testMembers(_ recipients: SendRecipients, _ format: SendFormat) async throws -> TestSample {
        if case .handles(let handles) = recipients, case .native(let platform) = format {
            let members = handles.prefix(settings.limits.testTargets).enumerated().map { index, handle in
                AudienceMember(handle: handle, platform: platform, position: Int64(index) + 1)
            }
            return TestSample(members: members)
        }
        var sample = TestSample()
        let records = try await self.sample(recipients.audience, format: format, limit: settings.limits.testTargets)
        for (index, record) in records.enumerated() {
            // Each record's own number will do: nothing else is filled beside them.
            let template = record.template.map { _ in TemplateID(Int64(index)) }
            guard let member = AudienceMember(record, template: template) else { continue }
            sample.members.append(member)
            if let template { sample.templates[template] = record.template }
        }
        return sample
    }

    private static func results(_ plan: PagePlan, _ outcomes: [PushOutcome]) -> [TestSendReport.Result] {
        var said: [Int: PushOutcome] = [:]
        for (position, index) in plan.sends.enumerated() where position < outcomes.count { said[index] = outcomes[position] }
        return plan.targets.indices.compactMap { index in
            guard let member = plan.targets[index].member else { return nil }
            let outcome = plan.targets[index].settled ?? said[index].map { testOutcome($0, member) } ?? .unknown
            return TestSendReport.Result(
                platform: member.platform, handle: member.handle, record: member.record, outcome: outcome,
                reason: said[index]?.reason)
        }
    }

    private static func testOutcome(_ outcome: PushOutcome, _ member: AudienceMember) -> TargetOutcome {
        switch TargetVerdict(outcome, for: member) {
        case .settled(let outcome): outcome
        case .again(let cause, _): cause.lastOutcome
        case .unsent: .unknown
        }
    }
}

extension PushOutcome {
    /// The push service's or the transport's word, if there is one.
    fileprivate var reason: String? {
        switch self {
        case .accepted, .gone, .badToken, .unsupported: nil
        case .rejected(let reason), .retry(_, let reason), .notSent(let reason, _), .unknown(let reason),
            .misconfigured(let reason):
            reason
        }
    }
}
