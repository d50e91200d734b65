import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Why a user got a notification, or did not")
struct ExplanationTests {
    private func cause(_ test: TestBackend, _ send: RichID, _ user: String = "bob") async throws -> String {
        let root = try await test.admin()
        return try await test.backend.explain(send, toUser: user, for: root).finding.cause
    }

    @Test("a user or a send that is not there is the explanation")
    func unknown() async throws {
        let test = try await TestBackend()
        let bob = try await test.user("bob")
        let send = try await test.send(bob)
        let other = try #require(RichID(number: 999))
        #expect(try await cause(test, send, "zoe") == "unknown-user")
        #expect(try await cause(test, send, "no user's name!") == "unknown-user")
        #expect(try await cause(test, other) == "unknown-send")
    }

    @Test("without a device that was meant, the explanation says what was missing, and when")
    func noDevice() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let early = try await test.send(ann, to: "username:bob")
        test.hub.completeAll(order: try await test.order())
        #expect(try await cause(test, early) == "never-a-device")
        test.clock.advance(by: .seconds(60))
        let registeredAt = test.clock.now
        let phone = try await test.install(bob, "phone", handle: 1, tags: [try #require(Tag("news"))])
        let root = try await test.admin()
        let later = try await test.backend.explain(early, toUser: "bob", for: root).finding
        #expect(later.cause == "registered-later")
        #expect(later.at == registeredAt)
        let other = try await test.send(ann, to: "sports && city:oslo")
        let missed = try await test.backend.explain(other, toUser: "bob", for: root).finding
        #expect(missed.cause == "not-in-audience")
        #expect(missed.nextStep?.contains("none had city:oslo, sports") == true, "\(missed.nextStep ?? "none")")
        let excluded = try await test.send(ann, to: "!news")
        #expect(try await cause(test, excluded) == "excluded-by-the-audience")
        test.clock.advance(by: .seconds(60))
        try await test.backend.deleteInstallation(id: try #require(InstallationID("phone")), for: phone.principal)
        let late = try await test.send(ann, to: "username:bob")
        let signedOut = try await test.backend.explain(late, toUser: "bob", for: root).finding
        #expect(signedOut.cause == "signed-out")
        #expect(signedOut.at == test.clock.now)
    }

    @Test("a new user of an old name did not get what the former one got")
    func newerUser() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let bob = try await test.user("bob")
        _ = try await test.install(bob, "phone", handle: 1)
        let send = try await test.send(ann, to: "username:bob")
        test.hub.completeAll(order: try await test.order())
        try await test.backend.removeUser(name: "bob")
        _ = try await test.user("bob")
        #expect(try await cause(test, send) == "user-is-newer")
    }

    @Test("a send that was recalled, refused or not handed over is explained before its devices")
    func sends() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(bob, "phone", handle: 1)
        let recalled = try await test.send(ann, to: "username:bob")
        try await test.backend.recall(recalled, for: ann)
        #expect(try await cause(test, recalled) == "recalled")
        test.hub.failNext(.before(ServiceError(.invalidField, "no")))
        _ = await code { _ = try await test.send(ann, to: "username:bob") }
        let sends = try await test.store.sends(SendListQuery(by: .number(below: nil), limit: 1))
        #expect(try await cause(test, try #require(sends.first?.id)) == "refused-by-the-hub")
        test.hub.failNext(.before(ServiceError(.storageUnavailable)))
        _ = await code { _ = try await test.send(ann, to: "username:bob") }
        let waiting = try await test.store.sends(SendListQuery(by: .number(below: nil), limit: 1))
        #expect(try await cause(test, try #require(waiting.first?.id)) == "not-handed-over")
    }

    @Test("the best of a user's devices decides, and each has its own line")
    func devices() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let phone = try await test.install(bob, "phone", handle: 1)
        _ = try await test.install(bob, "tablet", handle: 2)
        _ = try await test.install(bob, "watch", handle: nil)
        let send = try await test.send(ann, to: "username:bob")
        #expect(try await cause(test, send) == "in-progress")
        test.hub.completeAll(order: try await test.order())
        #expect(try await cause(test, send) == "accepted")
        for kind in [Receipt.Kind.delivered, .opened] {
            try await test.backend.record(
                ReceiptBatch(receipts: [Receipt(richID: send, kind: kind, at: test.clock.now)]), for: phone.principal)
        }
        let found = try await test.backend.explain(send, toUser: "BOB", for: try await test.admin())
        #expect(found.finding.cause == "opened")
        let causes = Dictionary(uniqueKeysWithValues: found.devices.map { ($0.device, $0.finding.cause) })
        #expect(causes == ["phone": "opened", "tablet": "accepted", "watch": "no-token"])
        #expect(found.finding.at == test.clock.now)
    }

    @Test("what another user opened on the same phone is not theirs")
    func sharedPhone() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(bob, "phone", handle: 1)
        let send = try await test.send(ann, to: "username:ann || username:bob")
        let phone = try await test.install(ann, "phone", handle: 1)
        test.hub.completeAll(order: try await test.order())
        let opened = Receipt(richID: send, kind: .opened, at: test.clock.now)
        try await test.backend.record(ReceiptBatch(receipts: [opened]), for: phone.principal)
        #expect(try await cause(test, send, "ann") == "opened")
        #expect(try await cause(test, send, "bob") == "accepted")
    }

    @Test("what the hub answers for a device is its explanation, with the reason")
    func rejected() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        for number in 1...3 { _ = try await test.install(bob, "phone-\(number)", handle: number) }
        let send = try await test.send(ann, to: "username:bob")
        test.hub.refusePushes(because: "BadTopic")
        test.hub.completeAll(order: try await test.order())
        let found = try await test.backend.explain(send, toUser: "bob", for: try await test.admin())
        #expect(found.devices.map(\.finding.cause) == ["topic-refused", "topic-refused", "topic-refused"])
        #expect(found.finding.sentence == "APNs refused the topic of the push: BadTopic.")
    }

    @Test("who was disabled before a send is explained by that")
    func disabled() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(bob, "phone", handle: 1)
        let early = try await test.send(ann, to: "username:bob")
        test.hub.completeAll(order: try await test.order())
        test.clock.advance(by: .seconds(60))
        try await test.backend.setDisabled(true, ofUser: "bob")
        let disabledAt = test.clock.now
        test.clock.advance(by: .seconds(60))
        let late = try await test.send(ann, to: "username:bob")
        let found = try await test.backend.explain(late, toUser: "bob", for: try await test.admin()).finding
        #expect(found.cause == "user-disabled")
        #expect(found.at == disabledAt)
        #expect(try await cause(test, early) == "accepted")
    }

    @Test("whose phone another user took over before a send is explained by that")
    func takenOver() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(bob, "phone", handle: 1)
        test.clock.advance(by: .seconds(60))
        _ = try await test.install(ann, "phone", handle: 1)
        let takenAt = test.clock.now
        test.clock.advance(by: .seconds(60))
        let send = try await test.send(ann, to: "username:bob")
        let found = try await test.backend.explain(send, toUser: "bob", for: try await test.admin()).finding
        #expect(found.cause == "taken-over")
        #expect(found.at == takenAt)
    }

    @Test("who has read it in the inbox got it, whatever the phone reported")
    func read() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let phone = try await test.install(bob, "phone", handle: 1)
        let send = try await test.send(ann, to: "username:bob")
        test.hub.completeAll(order: try await test.order())
        #expect(try await cause(test, send) == "accepted")
        try await test.backend.setRead(true, of: send, for: phone.principal)
        #expect(try await cause(test, send) == "read-in-the-inbox")
        let opened = Receipt(richID: send, kind: .opened, at: test.clock.now)
        try await test.backend.record(ReceiptBatch(receipts: [opened]), for: phone.principal)
        #expect(try await cause(test, send) == "opened")
    }

    @Test("only those who read the sends of all ask")
    func access() async throws {
        let test = try await TestBackend()
        let bob = try await test.user("bob")
        let send = try await test.send(bob)
        #expect(await code { _ = try await test.backend.explain(send, toUser: "bob", for: bob) } == .forbidden)
        let key = try await test.signIn(with: try await test.key("desk", "status"))
        #expect(try await test.backend.explain(send, toUser: "bob", for: key).finding.cause == "never-a-device")
    }
}

/// The rule alone, with facts that a hub would take long to come to.
@Suite("What an explanation follows from")
struct ExplanationRuleTests {
    /// The facts of a send that is over, to one device that has a token.
    private func facts(_ change: (inout ExplanationFacts) -> Void) async throws -> ExplanationFacts {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        _ = try await test.install(bob, "phone", handle: 1)
        let send = try await test.send(ann, to: "username:bob")
        test.hub.completeAll(order: try await test.order())
        let stored = try #require(try await test.store.notification(send))
        let user = try #require(try await test.store.user(bob.userID))
        let bindings = try await test.store.bindings(of: user.id, since: OrderNumber(0), limit: 10)
        let binding = try #require(bindings.first)
        let device = ExplanationFacts.Device(
            binding: binding, since: binding.order, record: try await test.hub.device(binding.device.record), failure: nil,
            receipts: [])
        var facts = ExplanationFacts(
            user: user, send: stored, telemetry: try await test.hub.telemetry(of: try #require(stored.trackingID)),
            listsFailures: true, bindings: bindings, devices: [device], now: test.clock.now)
        change(&facts)
        return facts
    }

    private static func failure(
        _ outcome: TargetOutcome, because reason: String = "Reason"
    ) -> (inout ExplanationFacts) -> Void {
        { facts in
            facts.devices[0].failure = TargetFailure(
                key: SliceKey(1), platform: .apns, record: facts.devices[0].binding.device.record, outcome: outcome,
                reason: reason)
        }
    }

    private static func receipt(_ kinds: Receipt.Kind...) -> (inout ExplanationFacts) -> Void {
        { facts in
            let at = Timestamp(milliseconds: 1)
            facts.devices[0].receipts = kinds.map { Receipt(richID: facts.send.id, kind: $0, action: "why", at: at) }
        }
    }

    /// A hub elsewhere counts, and names no device.
    private static func elsewhere(_ outcomes: [TargetOutcome: Int]) -> (inout ExplanationFacts) -> Void {
        { facts in
            facts.telemetry?.outcomes = outcomes
            facts.listsFailures = false
        }
    }

    private static func permission(_ word: String) -> (inout ExplanationFacts) -> Void {
        { $0.devices[0].binding.device.facts = try? DeviceFacts(InstallationUpdate(handle: nil, permission: word)) }
    }

    /// The device was signed out so long after the end of the send, and the hub has no record of it since.
    private static func signedOut(after time: Duration) -> (inout ExplanationFacts) -> Void {
        { facts in
            facts.devices[0].record = nil
            facts.devices[0].binding.until = (facts.telemetry?.endedAt).map { $0 + time }
        }
    }

    /// A push to an app of an environment, for which there is no client.
    private static func environment(_ name: String, known: [String]?) -> (inout ExplanationFacts) -> Void {
        { facts in
            failure(.noTransport)(&facts)
            facts.devices[0].binding.device.environment = name
            facts.environments = known
        }
    }

    private static func waits(
        for cause: SendWait.Cause, because reason: String = "reason", at service: Platform? = nil
    ) -> (inout ExplanationFacts) -> Void {
        { facts in
            facts.telemetry?.state = .dispatching
            let wait = SendWait(cause, reason: reason)
            facts.telemetry?.wait = wait
            if let service { facts.telemetry?.waits[service] = wait }
        }
    }

    @Test("a wait names the push service of the device")
    func waitOfBrowser() {
        var telemetry = NotificationTelemetry(
            id: NotificationID(), state: .dispatching, enqueuedAt: Timestamp(seconds: 1), dueAt: Timestamp(seconds: 1))
        telemetry.wait = SendWait(.pushService, reason: "r")
        let finding = ExplanationFacts.findingUnderWay(telemetry, for: .browser).of(.browser)
        #expect(finding.sentence == "The send waits for its push service: r.")
        #expect(finding.nextStep == "It goes on by itself when its push service takes pushes again.")
    }

    @Test("why the server got no answer is said in words, and what a push service answered stays in its own")
    func waitInWords() {
        var telemetry = NotificationTelemetry(
            id: NotificationID(), state: .dispatching, enqueuedAt: Timestamp(seconds: 1), dueAt: Timestamp(seconds: 1))
        telemetry.wait = SendWait(.pushService, reason: "tls-failed")
        let silent = ExplanationFacts.findingUnderWay(telemetry, for: .apns).sentence
        #expect(silent.hasPrefix("The send waits for APNs: no connection with TLS could be made"))
        telemetry.wait = SendWait(.operator, reason: "InvalidProviderToken")
        #expect(ExplanationFacts.findingUnderWay(telemetry, for: .apns).sentence.hasSuffix("an operator: InvalidProviderToken."))
    }

    private typealias Case = (cause: ExplanationCause, change: (inout ExplanationFacts) -> Void)

    /// What the hub or APNs does, or an operator has to.
    private var casesOfSending: [Case] {
        [
            (.inProgress, Self.waits(for: .operator, at: .fcmv1)), (.waitsForOperator, Self.waits(for: .operator, at: .apns)),
            (.waitsForOperator, Self.waits(for: .operator)), (.waiting, Self.waits(for: .pushService)),
            (.waiting, Self.waits(for: .pushService, because: "TopicDisallowed")),
            (.noCredential, Self.waits(for: .operator, because: PushOutcome.noCredential)),
            (.credentialRefused, Self.waits(for: .operator, because: "InvalidProviderToken")),
            (.topicRefused, Self.waits(for: .operator, because: "TopicDisallowed")),
            (.topicRefused, Self.failure(.rejected, because: "DeviceTokenNotForTopic")),
            (.headerRefused, Self.failure(.rejected, because: "BadCollapseId")),
            (.scheduled, { $0.telemetry?.state = .scheduled }),
            (.otherEnvironment, Self.environment("sandbox", known: ["production"])),
            (.otherEnvironment, Self.environment("sandbox", known: [])),
            (.noTransport, Self.environment("sandbox", known: ["sandbox"])),
            (.noTransport, Self.environment("sandbox", known: nil)),
            (.tooLateAtAPNs, { $0.send.expiresAt = $0.now }), (.accepted, { $0.send.expiresAt = $0.now + .seconds(1) }),
            (.read, { $0.isRead = true }), (.quiet, Self.permission("provisional")),
            (.neverAsked, Self.permission("notDetermined")),
        ]
    }

    /// What became of the push and of the notification.
    private var casesOfOutcome: [Case] {
        [
            (.accepted, { _ in }), (.gone, Self.failure(.gone)), (.badToken, Self.failure(.badToken)),
            (.rejected, Self.failure(.rejected)), (.tooLarge, Self.failure(.tooLarge)),
            (.invalidFormat, Self.failure(.invalidFormat)), (.unknownOutcome, Self.failure(.unknown)),
            (.tooLate, Self.failure(.expired)), (.noTransport, Self.failure(.noTransport)),
            (.removed, Self.failure(.removed)), (.capped, Self.failure(.capped)), (.skipped, Self.failure(.skipped)),
            (.opened, Self.receipt(.opened)),
            (.acted, Self.receipt(.delivered, .opened, .action)), (.dismissed, Self.receipt(.fetched, .dismissed)),
            (.fetched, Self.receipt(.delivered, .fetched)), (.delivered, Self.receipt(.delivered)),
            (.notShown, Self.receipt(.delivered, .failed)), (.inProgress, { $0.telemetry?.state = .dispatching }),
        ]
    }

    /// The send has a cap, and held some devices back.
    private static func capped(
        isCounted: Bool, held: Int = 1, window: Duration = .seconds(3_600)
    ) -> (inout ExplanationFacts) -> Void {
        { facts in
            facts.devices[0].capCount = FrequencyCap("news", limit: 2, window: window).map {
                CapCount(cap: $0, isCounted: isCounted, others: 2)
            }
            facts.telemetry?.outcomes = [.accepted: 1_000, .capped: held]
        }
    }

    /// What a frequency cap makes of it.
    private var casesOfCaps: [Case] {
        [
            (.capped, Self.capped(isCounted: false)), (.accepted, Self.capped(isCounted: true)),
            (.accepted, Self.capped(isCounted: false, held: 0)),
            (
                .accepted,
                { facts in
                    Self.capped(isCounted: false, window: .seconds(60))(&facts)
                    facts.now = facts.send.dueAt + .seconds(60)
                }
            ),
            (
                .inProgress,
                { facts in
                    Self.capped(isCounted: false)(&facts)
                    facts.telemetry?.state = .dispatching
                }
            ),
        ]
    }

    /// What the hub counts, and what the device is.
    private var casesOfDevice: [Case] {
        [
            (.unknownOutcome, { $0.telemetry = nil }), (.perhapsFailed, { $0.telemetry?.outcomes = [.gone: 101] }),
            (.accepted, { $0.telemetry?.outcomes = [.gone: 100, .accepted: 1_000_000] }),
            (.perhapsFailed, Self.elsewhere([.gone: 1, .accepted: 9])),
            (.accepted, Self.elsewhere([.accepted: 9])),
            (.registeredMeanwhile, { $0.devices[0].since = OrderNumber($0.send.order.number + 1) }),
            (.acceptedSilently, { $0.send.style = .silent }), (.noSealingKey, { $0.send.kind = .sealed }),
            (.hidden, Self.permission("denied")), (.accepted, Self.permission("granted")),
            (
                .acceptedSilently,
                { facts in
                    Self.permission("provisional")(&facts)
                    facts.send.style = .silent
                }
            ),
            (.noToken, { $0.devices[0].binding.device.handle = nil }),
            (.inactiveToken, { $0.devices[0].record?.inactiveAt = $0.telemetry?.endedAt }),
            (.accepted, { $0.devices[0].record?.inactiveAt = ($0.telemetry?.endedAt).map { $0 + .seconds(1) } }),
            (.forgotten, { $0.devices[0].record = nil }), (.accepted, Self.signedOut(after: .seconds(1))),
            (.accepted, Self.signedOut(after: .zero)), (.forgotten, Self.signedOut(after: .seconds(-1))),
            (.tooLate, { $0.telemetry?.state = .expired }),
            (.cancelled, { $0.telemetry?.state = .cancelled }), (.refused, { $0.telemetry?.state = .failed }),
            (.registeredMeanwhile, { $0.devices[0].record?.order = OrderNumber($0.send.order.number + 1) }),
            (.recalled, { $0.send.recalledAt = Timestamp(milliseconds: 9) }),
            (
                .opened,
                { facts in
                    Self.receipt(.opened)(&facts)
                    facts.send.recalledAt = Timestamp(milliseconds: 9)
                }
            ),
            (.refused, { $0.send.isRefused = true }),
        ]
    }

    @Test("each fault is explained by its own cause")
    func faults() async throws {
        for (index, (cause, change)) in (casesOfSending + casesOfOutcome + casesOfCaps + casesOfDevice).enumerated() {
            let finding = try await facts(change).explanation.finding
            #expect(finding.cause == cause.rawValue, "case \(index): \(finding)")
            #expect(finding.sentence.hasSuffix("."), "\(finding.sentence)")
        }
    }
}

extension TestBackend {
    /// An administrator, who is made at the first call.
    func admin() async throws -> Principal {
        if try await store.user(named: try #require(UserName("root"))) == nil { return try await user("root", .admin) }
        return try await signIn("root")
    }

    /// A place in the order of the database after all that is committed.
    func order() async throws -> OrderNumber? {
        try await database.write { try $0.row($0.dialect.nextOrder, [])?.integer(0) }.map(OrderNumber.init)
    }
}
