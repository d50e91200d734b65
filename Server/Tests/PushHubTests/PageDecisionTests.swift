import RichPushModel
import Testing

@testable import PushHub

/// Decisions on pages of four targets: with every outcome in every place, and case by case.
@Suite("What is stored after a page")
struct PageDecisionTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let outcomes: [PushOutcome] = [
        .accepted, .gone(since: now + .seconds(-5)), .gone(since: now + .seconds(-50)), .badToken, .rejected(reason: "r"),
        .retry(after: .seconds(3), reason: "r"), .notSent(reason: "r"), .unknown(reason: "r"), .misconfigured(reason: "r"),
        .unsupported, .delayed(by: .seconds(3), reason: "r"),
    ]

    private func member(_ key: Int64, topic: String? = nil) -> TargetPage.Target {
        TargetPage.Target(
            key: SliceKey(key), record: RecordID("d\(key)")!, platform: .apns, handle: DeviceToken(canonical: "0\(key)"),
            topic: topic, registeredAt: Self.now + .seconds(-10), version: 3)
    }

    private func target(_ key: Int64, isSkipped: Bool) -> TargetPage.Target {
        var target = member(key)
        target.isSkipped = isSkipped
        return target
    }

    private func lease(_ change: (inout SliceLease) -> Void = { _ in }) -> SliceLease {
        var lease = SliceLease(
            id: SliceID(hub: HubID(1), notification: NotificationID(), number: 0), cursor: .beforeAll, last: .last,
            weight: .small,
            epoch: 1)
        change(&lease)
        return lease
    }

    private func decide(
        walk: [PushOutcome?], through: SliceKey = SliceKey(100), lease: SliceLease? = nil, expiresAt: Timestamp? = nil,
        pendingCount: Int = 0, isOutOfReach: Bool = false
    ) -> PageDecision {
        let targets = walk.indices.map { target(Int64($0) + 1, isSkipped: walk[$0] == nil) }
        return decide(
            .walk(.init(targets: targets, through: through)), walk.compactMap(\.self), lease ?? self.lease(), expiresAt,
            pendingCount, isOutOfReach)
    }

    private func decide(
        retries: [(PendingTarget.Cause, PushOutcome?)], lease: SliceLease? = nil, age: Int = 10, expiresAt: Timestamp? = nil
    ) -> PageDecision {
        let due = retries.indices.map { index in
            SlicePage.DueTarget(
                target: PendingTarget(
                    key: SliceKey(Int64(index) + 1), cause: retries[index].0, attempts: 2, firstAt: Self.now + .seconds(-age),
                    notBefore: Self.now),
                member: retries[index].1 == nil ? nil : member(Int64(index) + 1))
        }
        return decide(
            .retries(.init(due)), retries.compactMap(\.1), lease ?? self.lease { $0.cursor = .last }, expiresAt, retries.count)
    }

    private func decide(
        _ work: SlicePage.Work, _ outcomes: [PushOutcome], _ lease: SliceLease, _ expiresAt: Timestamp?, _ pendingCount: Int,
        _ isOutOfReach: Bool = false, pushType: String = "alert", reportsOutcomes: Bool = false
    ) -> PageDecision {
        let message = AcceptedMessage(body: [], pushType: pushType, priority: 10, expiresAt: expiresAt)
        var page = SlicePage(state: .dispatching, message: message, work: work, pendingCount: pendingCount, nextPendingAt: nil)
        page.reportsOutcomes = reportsOutcomes
        let settings = DispatchSettings()
        let plan = PagePlan(page, lease: lease, now: Self.now, horizon: settings.retryHorizon, isOutOfReach: isOutOfReach)
        return PageDecision(
            plan, outcomes: plan.sends.isEmpty ? [] : PushOutcomes(outcomes),
            in: .init(
                lease: lease, message: message, pendingCount: pendingCount, nextPendingAt: nil, now: Self.now, settings: settings,
                jitter: 0))
    }

    @Test("a send that reports outcomes names each device that is settled, with its reason if it failed, and no other send does")
    func reports() {
        func report(_ outcomes: [PushOutcome], reportsOutcomes: Bool = true) -> [OutcomeReport.Group] {
            let targets = outcomes.indices.map { member(Int64($0) + 1) }
            let work = SlicePage.Work.walk(.init(targets: targets, through: SliceKey(100)))
            return decide(work, outcomes, lease(), nil, 0, reportsOutcomes: reportsOutcomes).checkpoint.report
        }
        func group(_ outcome: TargetOutcome, _ reason: String? = nil, _ devices: String...) -> OutcomeReport.Group {
            OutcomeReport.Group(outcome: outcome, reason: reason, devices: devices.compactMap { RecordID($0) })
        }
        #expect(report([.accepted, .accepted]) == [group(.accepted, nil, "d1", "d2")])
        #expect(
            report([.accepted, .rejected(reason: "r"), .retry(after: .seconds(3), reason: "r"), .rejected(reason: "r")])
                == [group(.accepted, nil, "d1"), group(.rejected, "r", "d2", "d4")])
        #expect(report([.accepted, .rejected(reason: "r")], reportsOutcomes: false).isEmpty)
        // What an earlier try brought is no reason of a push that arrived.
        let pending = PendingTarget(
            key: SliceKey(1), cause: .retry, attempts: 1, reason: "r", firstAt: Self.now, notBefore: Self.now)
        let due = [SlicePage.DueTarget(target: pending, member: member(1)), .init(target: pending, member: nil)]
        let retried = decide(
            .retries(.init(due)), [.accepted], lease { $0.cursor = .last }, nil, 2, reportsOutcomes: true)
        #expect(retried.checkpoint.report == [group(.accepted, nil, "d1")])
    }

    @Test("for every outcome in every place: each target up to the cursor is tallied once or has a row, none after it has either")
    func everyPage() {
        let count = Self.outcomes.count
        for code in 0..<count * count * count * count {
            let places = [code, code / count, code / count / count, code / count / count / count]
            let walk = places.map { Self.outcomes[$0 % count] }
            let checkpoint = decide(walk: walk).checkpoint
            let passed = (1...4).filter { SliceKey($0) <= checkpoint.lease.cursor }.count
            let counted = checkpoint.tallies.values.reduce(0, +) + checkpoint.pending.count
            let taken = walk.count { TargetVerdict($0, registeredAt: member(1).registeredAt) != .notSent }
            // One #expect: so many pages have no time for more.
            let isRight =
                counted == passed && checkpoint.lease.walked == passed && checkpoint.settled.isEmpty
                && checkpoint.pending.count + checkpoint.tallies.values.reduce(0, +) >= taken
                && checkpoint.pending.allSatisfy { $0.key <= checkpoint.lease.cursor && $0.notBefore > Self.now }
                && checkpoint.disposition != .finish
            #expect(isRight, "\(walk)")
        }
    }

    @Test("for every outcome and cause of a retry: the row is settled with one tally, or moved")
    func everyRetry() {
        for first in Self.outcomes {
            for second in Self.outcomes {
                for cause in PendingTarget.Cause.allCases {
                    let checkpoint = decide(retries: [(cause, first), (cause, second)]).checkpoint
                    let tallied = checkpoint.tallies.values.reduce(0, +)
                    #expect(
                        checkpoint.settled.count == tallied && checkpoint.lease.cursor == .last && checkpoint.lease.walked == 0)
                    #expect(Set(checkpoint.settled + checkpoint.pending.map(\.key)).count == 2)
                    #expect(checkpoint.pending.count + tallied == 2)
                    #expect(checkpoint.pending.allSatisfy { $0.notBefore > Self.now })
                    #expect(checkpoint.lease.failures == 0)
                    #expect(checkpoint.lease.stalledSince == nil)
                    #expect((checkpoint.disposition == .finish) == (tallied == 2))
                    #expect(checkpoint.pending.allSatisfy { $0.attempts == 3 && (cause != .unknown || $0.cause == .unknown) })
                }
            }
        }
    }

    @Test("a page of which nothing left moves nothing, leaves no rows and waits longer each time")
    func unreachable() {
        let down = PushOutcome.notSent(reason: "down")
        let decision = decide(
            walk: [down, down],
            lease: lease {
                $0.failures = 2; $0.stalledSince = Self.now + .seconds(-9)
            })
        #expect(decision.trouble == .unreachable(reason: "down"))
        let checkpoint = decision.checkpoint
        #expect(checkpoint.lease.cursor == .beforeAll)
        #expect(checkpoint.pending.isEmpty)
        #expect(checkpoint.tallies.isEmpty)
        #expect(checkpoint.lease.failures == 3)
        #expect(checkpoint.lease.stalledSince == Self.now + .seconds(-9))
        #expect(checkpoint.disposition == .release(notBefore: Self.now + .seconds(3)))
        #expect(checkpoint.wait == SendWait(.pushService, reason: "down"))
        #expect(decide(walk: [down]).checkpoint.lease.stalledSince == Self.now)
    }

    @Test("a service that answers 503 is asked less and less often, unlike one that cannot be reached")
    func unavailable() {
        let decision = decide(walk: [.unavailable(reason: "ServiceUnavailable")], lease: lease { $0.failures = 9 })
        #expect(decision.checkpoint.disposition == .release(notBefore: Self.now + .seconds(60)))
        #expect(decision.checkpoint.wait == SendWait(.pushService, reason: "ServiceUnavailable"))
        let away = decide(walk: [.notSent(reason: "unreachable")], lease: lease { $0.failures = 9 })
        #expect(away.checkpoint.disposition == .release(notBefore: Self.now + .seconds(3)))
    }

    @Test("what the service asked for is the least that a page or a row waits")
    func retryAfter() {
        let busy = PushOutcome.unavailable(reason: "ServiceUnavailable", retryAfter: .seconds(120))
        let down = PushOutcome.notSent(reason: "down")
        #expect(
            decide(walk: [down, busy, down]).checkpoint.disposition == .release(notBefore: Self.now + .seconds(120)))
        let rows = decide(retries: [(.notSent, busy), (.notSent, busy)]).checkpoint.pending
        #expect(rows.count == 2)
        #expect(rows.allSatisfy { (Self.now + .seconds(120)...Self.now + .seconds(132)).contains($0.notBefore) })
    }

    @Test("retries of which nothing left wait by themselves, longer each time, and the walk goes on at once")
    func unansweredRetries() {
        let troubled = lease {
            $0.failures = 2; $0.stalledSince = Self.now + .seconds(-9)
        }
        for (outcome, wait) in [(PushOutcome.notSent(reason: "down"), 3), (.misconfigured(reason: "x"), 120)] {
            let decision = decide(retries: [(.notSent, outcome), (.unknown, outcome)], lease: troubled)
            #expect(decision.trouble != nil)
            #expect(decision.checkpoint.settled.isEmpty)
            #expect(decision.checkpoint.pending.map(\.cause) == [.notSent, .unknown])
            #expect(decision.checkpoint.pending.allSatisfy { $0.attempts == 3 && $0.notBefore <= Self.now + .seconds(wait) })
            #expect(decision.checkpoint.pending.allSatisfy { $0.notBefore >= Self.now + .seconds(wait / 2) })
            #expect(decision.checkpoint.disposition == .keep(until: Self.now + .seconds(60)))
            #expect(decision.checkpoint.lease == troubled)
        }
    }

    @Test("a target that alone cannot be sent to does not make its slice wait")
    func oneBadTarget() {
        let wrong = PushOutcome.misconfigured(reason: "x")
        let decision = decide(walk: [.accepted, wrong, .accepted])
        let checkpoint = decision.checkpoint
        #expect(decision.trouble == nil)
        #expect(decision.answer == .some)
        #expect(checkpoint.disposition == .keep(until: Self.now + .seconds(60)))
        #expect(checkpoint.lease.cursor == SliceKey(100))
        #expect(checkpoint.pending.map(\.cause) == [.notSent])
        #expect(checkpoint.lease.failures == 0)
        #expect(
            decide(walk: Array(repeating: .accepted, count: 38) + [wrong, wrong, .accepted]).checkpoint.disposition
                == .keep(until: Self.now + .seconds(60)))
        #expect(
            decide(walk: Array(repeating: .accepted, count: 37) + [wrong, wrong, wrong]).checkpoint.disposition
                == .release(notBefore: Self.now + .seconds(30)))
    }

    @Test("a configuration fault waits longer and is reported as such")
    func misconfigured() {
        let decision = decide(walk: [.notSent(reason: "x"), .misconfigured(reason: "InvalidProviderToken")])
        #expect(decision.trouble == .misconfigured(reason: "InvalidProviderToken"))
        #expect(decision.checkpoint.wait == SendWait(.operator, reason: "InvalidProviderToken"))
        #expect(decision.checkpoint.disposition == .release(notBefore: Self.now + .seconds(30)))
    }

    @Test("of a mixed page the unsent at the end stay before the cursor, those in between get rows")
    func mixed() {
        let down = PushOutcome.notSent(reason: "down")
        let checkpoint = decide(walk: [.accepted, down, .accepted, down]).checkpoint
        #expect(checkpoint.lease.cursor == SliceKey(3))
        #expect(checkpoint.tallies == [.accepted: 2])
        #expect(checkpoint.pending.map(\.key) == [SliceKey(2)])
        #expect(checkpoint.pending.map(\.cause) == [.notSent])
        #expect(checkpoint.lease.failures == 1)
        #expect(checkpoint.lease.stalledSince == nil)
        #expect(checkpoint.disposition == .release(notBefore: Self.now + .seconds(1)))
    }

    @Test("a walk that goes well keeps its lease, and the end of the last page is the end of the slice")
    func progress() {
        let troubled = lease {
            $0.failures = 3; $0.stalledSince = Self.now
        }
        let checkpoint = decide(walk: [.accepted, nil], lease: troubled).checkpoint
        #expect(checkpoint.disposition == .keep(until: Self.now + .seconds(60)))
        #expect(checkpoint.lease.cursor == SliceKey(100))
        #expect(checkpoint.lease.failures == 0)
        #expect(checkpoint.lease.stalledSince == nil)
        #expect(checkpoint.tallies == [.accepted: 1, .skipped: 1])
        #expect(decide(walk: [.accepted], through: .last).checkpoint.disposition == .finish)
        #expect(decide(walk: [], through: .last).checkpoint.disposition == .finish)
        #expect(
            decide(walk: [.accepted], through: .last, pendingCount: 1).checkpoint.disposition
                == .keep(until: Self.now + .seconds(60)))
    }

    @Test("a walk with too many pending rows waits for the first of them")
    func tooManyPending() {
        let unknown = PushOutcome.unknown(reason: "timeout")
        let checkpoint = decide(walk: [unknown, unknown], pendingCount: 48).checkpoint
        #expect(checkpoint.disposition == .release(notBefore: checkpoint.pending.map(\.notBefore).min() ?? Self.now))
        #expect(
            decide(walk: [unknown, unknown], pendingCount: 47).checkpoint.disposition == .keep(until: Self.now + .seconds(60)))
    }

    @Test(
        "a gone handle is forgotten only if it registered before the moment; a bad token makes the record inactive as it was read"
    )
    func findings() {
        let checkpoint = decide(walk: [Self.outcomes[1], Self.outcomes[2], .badToken]).checkpoint
        #expect(checkpoint.forgotten.map(\.handle.text) == ["01"])
        #expect(checkpoint.forgotten.first?.since == Self.now + .seconds(-5))
        #expect(checkpoint.badTokens == [.init(key: SliceKey(3), version: 3)])
        #expect(checkpoint.tallies == [.gone: 1, .rejected: 1, .badToken: 1])
    }

    @Test("when the time is over nothing is sent and every target is tallied")
    func over() {
        let expired = decide(walk: [.accepted, nil], through: .last, expiresAt: Self.now)
        #expect(expired.checkpoint.tallies == [.expired: 1, .skipped: 1])
        #expect(expired.checkpoint.disposition == .finish)
        let stalled = lease { $0.stalledSince = Self.now + .seconds(-1800) }
        #expect(decide(walk: [.accepted], lease: stalled).checkpoint.tallies == [.accepted: 1])
        let last = decide(walk: [.notSent(reason: "down")], lease: stalled)
        #expect(last.checkpoint.tallies == [.expired: 1])
        #expect(last.checkpoint.disposition == .keep(until: Self.now + .seconds(60)))
        #expect(decide(walk: [.accepted], lease: stalled, isOutOfReach: true).checkpoint.tallies == [.expired: 1])
        #expect(decide(walk: [.accepted], lease: stalled, expiresAt: Self.now + .seconds(1)).checkpoint.tallies == [.accepted: 1])
        let retries = decide(retries: [(.retry, .accepted), (.unknown, .accepted), (.notSent, .accepted)], age: 1800)
        #expect(retries.checkpoint.tallies == [.rejected: 1, .unknown: 1, .expired: 1])
    }

    @Test("a record that went before its next try is not sent to")
    func vanished() {
        let checkpoint = decide(retries: [(.retry, nil), (.unknown, nil)]).checkpoint
        #expect(checkpoint.tallies == [.removed: 1, .unknown: 1])
        #expect(checkpoint.disposition == .finish)
    }

    @Test("a try that would come after the end is not waited for")
    func lastTry() {
        let retry = PushOutcome.retry(after: .seconds(60), reason: "429")
        #expect(decide(walk: [retry], expiresAt: Self.now + .seconds(60)).checkpoint.tallies == [.rejected: 1])
        #expect(decide(walk: [retry], expiresAt: Self.now + .seconds(61)).checkpoint.tallies == [:])
    }

    @Test("a push that rests because it was refused for now shows its reason, and one that is tried by others does not")
    func refusedForNow() {
        let later = PushOutcome.retry(after: .seconds(900), reason: "InternalServerError")
        let resting = decide(walk: [.accepted, later], through: .last).checkpoint
        #expect(resting.disposition == .release(notBefore: Self.now + .seconds(900)))
        #expect(resting.wait == SendWait(.pushService, reason: "InternalServerError"))
        #expect(decide(walk: [.accepted, later]).checkpoint.wait == nil, "the walk goes on")
        #expect(decide(walk: [.unknown(reason: "r"), later], through: .last).checkpoint.wait == nil, "another try comes first")
        #expect(decide(retries: [(.retry, .accepted)]).checkpoint.wait == nil)
    }

    @Test("a push that did not leave while others did waits for itself, and expires when its time is over")
    func delayed() {
        let away = PushOutcome.delayed(by: .seconds(10), reason: "away")
        let checkpoint = decide(walk: [away, .accepted, away, .accepted], through: .last).checkpoint
        #expect(checkpoint.pending.map(\.cause) == [.notSent, .notSent])
        #expect(checkpoint.pending.allSatisfy { $0.notBefore >= Self.now + .seconds(10) })
        #expect(checkpoint.disposition == .release(notBefore: Self.now + .seconds(10)), "nothing waits for an answer sooner")
        #expect(checkpoint.wait == SendWait(.pushService, reason: "away"))
        let late = decide(walk: [away, .accepted], through: .last, expiresAt: Self.now + .seconds(10)).checkpoint
        #expect(late.tallies == [.accepted: 1, .expired: 1])
        #expect(late.reasons == [OutcomeReason(outcome: .expired, reason: "away"): 1])
        let last = decide(retries: [(.notSent, away)], age: 1_795).checkpoint
        #expect(last.tallies == [.expired: 1])
        #expect(RetryTable.Ending(away) == .unreachable)
    }

    @Test("a wait that the service asked for is not cut at the horizon: a push without time for it counts at once")
    func shortHorizon() {
        let later = PushOutcome.retry(after: .seconds(900), reason: "InternalServerError")
        let last = decide(retries: [(.retry, later)], age: 900).checkpoint
        #expect(last.tallies == [.rejected: 1])
        #expect(last.reasons == [OutcomeReason(outcome: .rejected, reason: "InternalServerError"): 1])
        #expect(last.wait == nil)
        #expect(decide(retries: [(.retry, later)], age: 899).checkpoint.pending.map(\.notBefore) == [Self.now + .seconds(900)])
    }

    @Test("what is worth one try is tried once, however late, and waits only for a service that is out of reach")
    func oneTry() {
        let once = PushMessage.oneTry
        let outcomes: [PushOutcome] = [.accepted, .retry(after: .seconds(1), reason: "429"), .unknown(reason: "r"), .badToken]
        let checkpoint = decide(walk: outcomes, through: .last, expiresAt: once).checkpoint
        #expect(checkpoint.tallies == [.accepted: 1, .rejected: 1, .unknown: 1, .badToken: 1])
        #expect(checkpoint.pending.isEmpty)
        #expect(checkpoint.disposition == .finish)
        let waiting = decide(walk: [.notSent(reason: "down")], expiresAt: once).checkpoint
        #expect(waiting.tallies.isEmpty)
        #expect(waiting.lease.cursor == .beforeAll)
        #expect(waiting.disposition != .finish)
        let stalled = lease { $0.stalledSince = Self.now + .seconds(-1800) }
        #expect(decide(walk: [.notSent(reason: "down")], lease: stalled, expiresAt: once).checkpoint.tallies == [.expired: 1])
    }

    /// The checkpoints of a push that is never answered, try after try, until it is settled.
    private func unanswered(_ pushType: String) -> [SliceCheckpoint] {
        let first = SlicePage.Work.walk(.init(targets: [member(1)], through: .last))
        var checkpoints = [decide(first, [.unknown(reason: "deadline")], lease(), nil, 0, pushType: pushType).checkpoint]
        while let row = checkpoints.last?.pending.first, checkpoints.count < 20 {
            let due = SlicePage.Work.retries([SlicePage.DueTarget(target: row, member: member(1))])
            let walked = lease { $0.cursor = .last }
            checkpoints.append(decide(due, [.unknown(reason: "deadline")], walked, nil, 1, pushType: pushType).checkpoint)
        }
        return checkpoints
    }

    @Test(
        "a push that is never answered is sent three times if a second copy does no harm, and once if it does",
        arguments: [
            ("alert", 3), ("widgets", 3), ("voip", 1), ("pushtotalk", 1), ("background", 1), ("location", 1), ("liveactivity", 1),
            ("complication", 1), ("new-type", 1),
        ])
    func unansweredPush(pushType: String, tries: Int) {
        let checkpoints = unanswered(pushType)
        #expect(checkpoints.count == tries)
        #expect(checkpoints.last?.tallies == [.unknown: 1])
        #expect(checkpoints.last?.disposition == .finish)
        #expect(checkpoints.last?.reasons == [OutcomeReason(outcome: .unknown, reason: "deadline"): 1])
    }

    @Test("tries that did not leave do not count against the tries of a push that may have arrived")
    func unsentBetween() {
        var row = PendingTarget(
            key: SliceKey(1), cause: .unknown, attempts: 9, unanswered: 1, firstAt: Self.now, notBefore: Self.now)
        let due = SlicePage.Work.retries([SlicePage.DueTarget(target: row, member: member(1))])
        let walked = lease { $0.cursor = .last }
        let unsent = decide(due, [.notSent(reason: "unreachable")], walked, nil, 1).checkpoint
        #expect(unsent.pending.map(\.unanswered) == [1])
        #expect(unsent.pending.map(\.cause) == [.unknown])
        row.unanswered = 2
        let again = SlicePage.Work.retries([SlicePage.DueTarget(target: row, member: member(1))])
        #expect(decide(again, [.unknown(reason: "stream-reset")], walked, nil, 1).checkpoint.tallies == [.unknown: 1])
    }

    @Test("what is refused for good is counted with its reason and its device, and never tried again")
    func refusedForGood() {
        for reason in ["Forbidden", "BadTopic", "TopicDisallowed", "DeviceTokenNotForTopic", "PayloadEmpty"] {
            let checkpoint = decide(walk: [.accepted, .rejected(reason: reason)], through: .last).checkpoint
            #expect(checkpoint.tallies == [.accepted: 1, .rejected: 1])
            #expect(checkpoint.pending.isEmpty)
            #expect(checkpoint.reasons == [OutcomeReason(outcome: .rejected, reason: reason): 1])
            #expect(checkpoint.failures.map(\.record) == [RecordID("d2")])
            #expect(checkpoint.failures.map(\.reason) == [reason])
        }
        #expect(decide(walk: [.tooLarge], through: .last).checkpoint.tallies == [.tooLarge: 1])
    }

    @Test("the reason of the last try is that of a push whose time ran out")
    func lastReason() {
        let row = PendingTarget(
            key: SliceKey(1), cause: .notSent, attempts: 9, reason: "name-not-resolved", firstAt: Self.now + .seconds(-1800),
            notBefore: Self.now)
        let due = SlicePage.Work.retries([SlicePage.DueTarget(target: row, member: member(1))])
        let checkpoint = decide(due, [], lease { $0.cursor = .last }, nil, 1).checkpoint
        #expect(checkpoint.reasons == [OutcomeReason(outcome: .expired, reason: "name-not-resolved"): 1])
    }

    @Test("an outcome that is missing counts as unknown")
    func missing() {
        let work = SlicePage.Work.walk(.init(targets: [member(1)], through: .last))
        #expect(decide(work, [], lease(), nil, 0).checkpoint.pending.map(\.cause) == [.unknown])
    }

    @Test("what is too large for the push service, or is no handle, is settled before anything is sent")
    func refused() {
        let size = #"{"a":""}"#.utf8.count
        for (bytes, type, outcome) in [(4096, "alert", nil), (4097, "alert", TargetOutcome.tooLarge), (4097, "voip", nil)] {
            let body = Array(#"{"a":"\#(String(repeating: "x", count: bytes - size))"}"#.utf8)
            var targets = [1, 2].map { target($0, isSkipped: $0 == 2) }
            for text in ["zzz", "", "ABC", "AB CD", "AB\u{0}"] {
                let handle = DeviceToken(malformed: text)
                targets.append(.init(handle: handle, platform: .apns, position: 3))
            }
            targets.append(.init(handle: DeviceToken(canonical: "ABCD"), platform: .apns, position: 4))
            let page = SlicePage(
                state: .dispatching, message: AcceptedMessage(body: body, pushType: type, priority: 10),
                work: .walk(.init(targets: targets, through: .last)), pendingCount: 0, nextPendingAt: nil)
            let plan = PagePlan(page, lease: lease(), now: Self.now, horizon: .seconds(1))
            #expect(plan.settled == [outcome, .skipped] + Array(repeating: .badToken, count: 5) + [outcome])
        }
    }

    @Test("one header set per topic; the message's topic wins")
    func batch() {
        let records = zip(Int64(1)..., ["one", "two", "one"]).map { member($0, topic: $1) }
        let work = SlicePage.Work.walk(.init(targets: records, through: .last))
        var message = AcceptedMessage(body: [1], pushType: "alert", priority: 5, expiresAt: Timestamp(milliseconds: 9_999_999))
        let page = SlicePage(state: .dispatching, message: message, work: work, pendingCount: 0, nextPendingAt: nil)
        let plan = PagePlan(page, lease: lease(), now: Timestamp(seconds: 1), horizon: .seconds(1))
        let batch = plan.batch(message, of: lease().id)
        #expect(batch.headers.map(\.topic) == ["one", "two"])
        #expect(batch.targets.map(\.headers) == [0, 1, 0])
        #expect(batch.headers.allSatisfy { $0.expiration == 9999 && $0.priority == 5 })
        #expect(batch.bodies == [[1]])
        message.topic = "all"
        #expect(plan.batch(message, of: lease().id).headers.map(\.topic) == ["all"])
    }
}
