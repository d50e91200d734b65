import Foundation
import RichPushModel
import Testing

@testable import PushHub

@Suite("The targets and outcomes of a batch")
struct PushTargetsTests {
    private func target(_ handle: String, environment: String? = nil, body: Int = 0, headers: Int = 0) -> PushBatch.Target {
        PushBatch.Target(
            handle: DeviceToken(canonical: handle), environment: environment, body: body, headers: headers,
            pushID: PushID(UUID()))
    }

    private func member(_ number: Int64, topic: String? = nil, environment: String? = nil) -> TargetPage.Target {
        TargetPage.Target(
            key: SliceKey(number), record: RecordID("record-\(number)"), platform: .apns,
            handle: DeviceToken(canonical: "AB0\(number)"), environment: environment, topic: topic,
            registeredAt: Timestamp(milliseconds: number))
    }

    /// The same targets, of which one gets its push through another record.
    private func skipping(_ key: SliceKey, of targets: [TargetPage.Target]) -> [TargetPage.Target] {
        targets.map { target in
            var target = target
            target.isSkipped = target.key == key
            return target
        }
    }

    private let message = AcceptedMessage(body: [1], pushType: "alert", priority: 10)
    private let slice = SliceID(hub: HubID(1), notification: NotificationID(), number: 0)

    private func plan(_ work: SlicePage.Work) -> PagePlan {
        let page = SlicePage(state: .dispatching, message: message, work: work, pendingCount: 0, nextPendingAt: nil)
        let lease = SliceLease(id: slice, cursor: .beforeAll, last: .last, weight: .large, epoch: 1)
        return PagePlan(page, lease: lease, now: Timestamp(milliseconds: 9), horizon: .seconds(60))
    }

    /// Each push is the one that is meant for its device.
    private func expectMatch(_ batch: PushBatch, _ sent: [TargetPage.Target]) throws {
        #expect(batch.targets.map(\.handle) == sent.map(\.handle))
        // A transport reads them where they lie.
        let tokens = batch.targets.indices.map { batch.targets.bytes[batch.targets.token(at: $0)] }
        #expect(tokens.map { String(decoding: $0, as: UTF8.self) } == sent.map(\.handle.text))
        for (target, member) in zip(batch.targets, sent) {
            #expect(target.pushID == PushID(notification: slice.notification, record: try #require(member.record)))
            #expect(target.environment == member.environment && batch.headers[target.headers].topic == member.topic)
        }
    }

    @Test("targets come back as they were given, and neighbours that differ in handle and id alone are one run")
    func listed() {
        let given = [
            target("AA"), target("AB"), target("AC", environment: "sandbox"), target("AD", environment: "sandbox", body: 1),
            target("AE", environment: "sandbox", body: 1, headers: 1), target("AF"),
        ]
        let targets = PushTargets(given)
        #expect(Array(targets) == given)
        #expect(targets.runs.map(\.positions) == [0..<2, 2..<3, 3..<4, 4..<5, 5..<6])
        #expect(PushTargets([]).isEmpty)
        #expect(PushTargets([]).runs.isEmpty)
    }

    @Test("the targets of a page are its members that a push is sent to, each with its own handle, id, topic and environment")
    func page() throws {
        let members = [
            member(1), member(2, topic: "one"), member(3, topic: "one"), member(4, environment: "sandbox"), member(5),
        ]
        let page = TargetPage(skipping(SliceKey(3), of: members))
        let batch = plan(.walk(.init(targets: page, through: .last))).batch(message, of: slice)
        let sent = [members[0], members[1], members[3], members[4]]
        try expectMatch(batch, sent)
        #expect(batch.targets.runs.map(\.positions) == [0..<1, 1..<2, 2..<3, 3..<4])
    }

    @Test("a page of which only some pushes may leave now is sent from its start, and a page of retries without those that went")
    func parts() throws {
        let members = (1...6).map { member(Int64($0), topic: $0.isMultiple(of: 3) ? "three" : nil) }
        let page = TargetPage(skipping(SliceKey(2), of: members))
        let whole = plan(.walk(.init(targets: page, through: .last)))
        try expectMatch(whole.limited(toPushes: 3).batch(message, of: slice), [members[0], members[2], members[3]])
        let due = members.map { member in
            SlicePage.DueTarget(
                target: PendingTarget(
                    key: member.key, cause: .retry, attempts: 1, firstAt: Timestamp(milliseconds: 1),
                    notBefore: Timestamp(milliseconds: 1)),
                member: member.key == SliceKey(4) || member.key == SliceKey(1) ? nil : member)
        }
        try expectMatch(plan(.retries(.init(due))).batch(message, of: slice), [members[1], members[2], members[4], members[5]])
    }

    @Test("outcomes that are said of all at once are those that are said of each")
    func outcomes() {
        let same = PushOutcomes(repeating: .accepted, count: 3)
        #expect(same == [.accepted, .accepted, .accepted])
        #expect(same.common == .accepted)
        #expect(same.areAllAccepted)
        #expect(same.count == 3)
        #expect(Array(same) == Array(repeating: .accepted, count: 3))
        let mixed: PushOutcomes = [.accepted, .badToken]
        #expect(mixed.common == nil && !mixed.areAllAccepted && mixed[1] == .badToken && mixed != same)
        #expect(!PushOutcomes(repeating: .badToken, count: 2).areAllAccepted)
        #expect(PushOutcomes(Array(repeating: .accepted, count: 2)).areAllAccepted)
        #expect(PushOutcomes(repeating: .accepted, count: 0).isEmpty)
    }
}
