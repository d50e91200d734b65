import AppBackend
import AuditTrail
import RichPushModel
import ServiceErrors
import Testing

/// What a `WebhookStore` promises.
public enum WebhookStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keeps, limits, storesForThoseThatWant, storesReportsOnce, inTurn, retries, leases, settlesForItsOwner, lists, replays,
        removes,
        forgets,
    ]

    private typealias Sample = BackendSample

    private static func add(
        _ events: [WebhookEvent.Kind] = [.sendEnded], limit: Int = 20, to store: any BackendStore
    ) async throws -> Webhook {
        try await store.addWebhook(
            WebhookDraft(url: "https://example.org/hook", events: events, description: "Shop"), state: .enabled, salt: [1, 2, 3],
            limit: limit,
            at: Sample.start, audit: nil)
    }

    private static func event(_ id: String, of subject: String, user: String? = nil, at seconds: Int64 = 0) -> WebhookEvent {
        var data = WebhookData()
        (data.send, data.user) = ("1", user)
        return WebhookEvent(cause: id, .sendEnded, subject: subject, user: user, at: Sample.time(seconds), data: data)
    }

    private static func due(
        _ webhook: Webhook, at seconds: Int64 = 1, limit: Int = 10, in store: any BackendStore
    ) async throws -> [WebhookDelivery] {
        try await store.dueDeliveries(of: webhook.id, at: Sample.time(seconds), limit: limit)
    }

    private static func lease(
        _ owner: String, at seconds: Int64 = 0, renewal: Int64 = 40, in store: any BackendStore
    ) async throws -> [Int64] {
        try await store.leaseWebhooks(
            to: owner, until: Sample.time(seconds + 60), renewal: .seconds(renewal), at: Sample.time(seconds)
        ).map(\.webhook.id)
    }

    private static func attempt(
        _ delivery: WebhookDelivery, _ result: WebhookAttempt.Result, status: Int? = 500, text: String? = "no"
    ) -> WebhookAttempt {
        WebhookAttempt(
            delivery, result, WebhookDelivery.Answer(at: Sample.time(2), status: status, milliseconds: 7, text: text))
    }

    @discardableResult
    private static func settle(
        _ attempts: WebhookAttempt..., of webhook: Webhook, in store: any BackendStore
    ) async throws -> Bool {
        try await store.settle(attempts, of: webhook.id, owner: "a", health: nil)
    }

    private static let keeps = StoragePromise<any BackendStore>("a webhook comes back as stored, changed, rolled and disabled") {
        store in
        var webhook = try await add([.sendAccepted, .receiptsRecorded], to: store)
        #expect(try await store.webhook(webhook.id) == webhook)
        #expect(try await store.webhooks() == [webhook])
        #expect(webhook.salt == [1, 2, 3] && webhook.formerSalt == nil && webhook.state == .enabled)
        webhook = try #require(
            try await store.rollWebhook(webhook.id, salt: [4], formerUntil: Sample.time(9), audit: nil))
        #expect(webhook.salt == [4] && webhook.formerSalt == Webhook.FormerSalt(salt: [1, 2, 3], until: Sample.time(9)))
        #expect(try await store.disableWebhook(webhook.id, fault: "gone", audit: nil))
        #expect(try await !store.disableWebhook(webhook.id, fault: "again", audit: nil))
        #expect(try await store.webhook(webhook.id)?.fault == "gone")
        let draft = WebhookDraft(url: "https://example.org/2", events: [.sendRecalled], description: "")
        let changed = try #require(
            try await store.changeWebhook(webhook.id, to: draft, state: .enabled, at: Sample.start, audit: nil))
        #expect(changed.draft == draft && changed.state == .enabled && changed.fault == nil && changed.salt == [4])
        #expect(try await store.webhook(webhook.id + 1) == nil)
        #expect(
            try await store.changeWebhook(webhook.id + 1, to: draft, state: .enabled, at: Sample.start, audit: nil) == nil)
    }

    private static let limits = StoragePromise<any BackendStore>("there is a limited number of webhooks, also of many at once") {
        store in
        let refused = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    do { _ = try await add(limit: 2, to: store) } catch {
                        return (error as? ServiceError)?.code == .quotaExceeded
                    }
                    return false
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refused == 4)
        let made = try await store.webhooks()
        #expect(made.count == 2)
    }

    private static let storesForThoseThatWant = StoragePromise<any BackendStore>(
        "an event of a send is stored for each webhook that is enabled and wants it, and for no other"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let wanting = try await add([.sendAccepted, .sendEnded], to: store)
        #expect(try await store.isWanted(.sendAccepted))
        #expect(try await !store.isWanted(.sendOutcomes))
        let other = try await add([.sendEnded], to: store)
        let disabled = try await add([.sendAccepted], to: store)
        _ = try await store.disableWebhook(disabled.id, fault: "gone", audit: nil)
        let entry = AuditEntry(.sendAccepted, by: .user("ann"), at: Sample.start)
        _ = try await store.accept(try Sample.draft(from: ann, to: "news"), at: Sample.start, audit: entry)
        let told = try await due(wanting, in: store)
        #expect(told.map(\.event.kind) == [.sendAccepted])
        #expect(told.first?.event.data.send == "\(try #require(RichID(number: 1)))")
        #expect(told.first?.event.id == "evt_\(entry.id)")
        #expect(try await due(other, in: store).isEmpty)
        #expect(try await due(disabled, in: store).isEmpty)
    }

    private static let storesReportsOnce = StoragePromise<any BackendStore>(
        "what a device reported is one event, and a report that is repeated is none"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let webhook = try await add([.receiptsRecorded], to: store)
        let send = try await Sample.send(try Sample.draft(from: ann, to: "news"), in: store)
        let receipts = [
            try Sample.receipt(send.id, .delivered, of: ann, "phone"),
            try Sample.receipt(send.id, .action, of: ann, "phone", action: "more"),
        ]
        for _ in 0..<2 { _ = try await store.record(receipts, at: Sample.start) }
        let told = try await due(webhook, in: store)
        #expect(told.count == 1)
        let event = try #require(told.first?.event)
        #expect(event.subject == "phone" && event.data.installation == "phone" && event.data.user == "ann")
        #expect(event.data.receipts?.map(\.kind) == ["delivered", "action"])
        #expect(event.data.receipts?.map(\.action) == [nil, "more"])
    }

    private static let inTurn = StoragePromise<any BackendStore>("of each subject only the first event that waits is due") {
        store in
        let webhook = try await add(to: store)
        for (id, subject) in [("1", "a"), ("2", "a"), ("3", "b"), ("4", "a")] {
            try await store.add(event(id, of: subject), to: webhook.id)
        }
        _ = try await lease("a", in: store)
        var order: [String] = []
        while case let found = try await due(webhook, in: store), let first = found.first {
            order.append(found.map { String($0.event.id.dropFirst(4)) }.joined(separator: " "))
            try await settle(attempt(first, .delivered, status: 204, text: nil), of: webhook, in: store)
        }
        #expect(order == ["1 3", "2 3", "3 4", "4"] || order == ["1 3", "3 2", "2", "4"])
        let all = try await store.deliveries(WebhookDeliveryQuery(of: webhook.id, limit: 10))
        #expect(all.allSatisfy { $0.state == .delivered && $0.attempts == 1 && $0.dueAt == nil && $0.last?.status == 204 })
    }

    private static let retries = StoragePromise<any BackendStore>(
        "what failed holds back the others of its subject until it is delivered or given up, and no other"
    ) { store in
        let webhook = try await add(to: store)
        for (id, subject) in [("1", "a"), ("2", "a"), ("3", "b")] { try await store.add(event(id, of: subject), to: webhook.id) }
        _ = try await lease("a", in: store)
        let first = try #require(try await due(webhook, in: store).first)
        try await settle(attempt(first, .retry(at: Sample.time(50), counts: true)), of: webhook, in: store)
        #expect(try await due(webhook, at: 49, in: store).map(\.event.subject) == ["b"])
        // One that comes meanwhile waits too.
        try await store.add(event("4", of: "a", at: 3), to: webhook.id)
        #expect(try await due(webhook, at: 49, in: store).map(\.event.subject) == ["b"])
        let again = try #require(try await due(webhook, at: 50, in: store).first { $0.event.subject == "a" })
        #expect(again.event.id == "evt_1" && again.attempts == 1 && again.last?.text == "no" && again.last?.milliseconds == 7)
        try await settle(attempt(again, .retry(at: Sample.time(60), counts: false)), of: webhook, in: store)
        let third = try #require(try await due(webhook, at: 60, in: store).first { $0.event.subject == "a" })
        #expect(third.attempts == 1)
        try await settle(attempt(third, .failed), of: webhook, in: store)
        #expect(try await due(webhook, at: 60, in: store).filter { $0.event.subject == "a" }.map(\.event.id) == ["evt_2"])
    }

    private static let leases = StoragePromise<any BackendStore>("one node has a webhook until its lease ends or is given up") {
        store in
        let webhook = try await add(to: store)
        let taken = await withTaskGroup(of: Int.self) { group in
            for number in 0..<6 { group.addTask { (try? await lease("node \(number)", in: store).count) ?? 0 } }
            return await group.reduce(0, +)
        }
        #expect(taken == 1)
        #expect(try await lease("late", at: 59, in: store) == [])
        #expect(try await lease("a", at: 60, in: store) == [webhook.id])
        // Lengthened when little is left.
        #expect(try await lease("a", at: 90, in: store) == [webhook.id])
        #expect(try await lease("b", at: 121, in: store) == [])
        try await store.releaseWebhooks(of: "a")
        #expect(try await lease("b", at: 121, in: store) == [webhook.id])
        _ = try await store.disableWebhook(webhook.id, fault: "gone", audit: nil)
        #expect(try await lease("b", at: 122, in: store) == [])
    }

    private static let settlesForItsOwner = StoragePromise<any BackendStore>(
        "what a node brings that has the lease no more is not stored, and the health is known to the next"
    ) { store in
        let webhook = try await add(to: store)
        try await store.add(event("1", of: "a"), to: webhook.id)
        _ = try await lease("b", in: store)
        let found = try #require(try await due(webhook, in: store).first)
        #expect(try await !settle(attempt(found, .delivered), of: webhook, in: store))
        #expect(try await due(webhook, in: store).count == 1)
        let health = WebhookHealth(pausedUntil: Sample.time(5), pauses: 2, failures: 21)
        #expect(try await store.settle([], of: webhook.id, owner: "b", health: health))
        try await store.releaseWebhooks(of: "b")
        let next = try await store.leaseWebhooks(to: "c", until: Sample.time(60), renewal: .seconds(40), at: Sample.start)
        #expect(next.map(\.health) == [health])
    }

    private static let lists = StoragePromise<any BackendStore>("deliveries are listed newest first, by state and by page") {
        store in
        let (webhook, other) = (try await add(to: store), try await add(to: store))
        for number in 1...5 { try await store.add(event("\(number)", of: "\(number)"), to: webhook.id) }
        try await store.add(event("x", of: "x"), to: other.id)
        _ = try await lease("a", in: store)
        let waiting = try await due(webhook, in: store)
        try await settle(
            attempt(waiting[1], .failed), attempt(waiting[3], .delivered), of: webhook, in: store)
        func ids(_ state: WebhookDelivery.State? = nil, below: Int64? = nil, limit: Int = 10) async throws -> [String] {
            try await store.deliveries(WebhookDeliveryQuery(of: webhook.id, state: state, below: below, limit: limit))
                .map { String($0.event.id.dropFirst(4)) }
        }
        #expect(try await ids() == ["5", "4", "3", "2", "1"])
        #expect(try await ids(.failed) == ["2"])
        #expect(try await ids(.waiting) == ["5", "3", "1"])
        let page = try await store.deliveries(WebhookDeliveryQuery(of: webhook.id, limit: 2))
        #expect(try await ids(below: page.last?.number, limit: 2) == ["3", "2"])
        #expect(try await store.waitingDeliveries(of: webhook.id, limit: 10) == 3)
        #expect(try await store.waitingDeliveries(of: webhook.id, limit: 2) == 2)
    }

    private static let replays = StoragePromise<any BackendStore>(
        "what ended is queued again: one, all of one state since a moment; what waits is not"
    ) { store in
        let webhook = try await add(to: store)
        for number in 1...4 { try await store.add(event("\(number)", of: "a", at: Int64(number)), to: webhook.id) }
        _ = try await lease("a", in: store)
        for result in [WebhookAttempt.Result.delivered, .failed, .delivered] {
            let found = try #require(try await due(webhook, at: 9, in: store).first)
            try await settle(attempt(found, result), of: webhook, in: store)
        }
        func replay(_ replay: WebhookReplay, after number: Int64 = 0, limit: Int = 10) async throws -> (Int, Int64?) {
            let step = try await store.replay(replay, of: webhook.id, after: number, limit: limit, at: Sample.time(20))
            return (step.count, step.next)
        }
        #expect(try await replay(.since(Sample.time(2), .failed)).0 == 1)
        #expect(try await replay(.event("evt_2")).0 == 0)
        #expect(try await replay(.event("evt_1")).0 == 1)
        #expect(try await replay(.since(Sample.start, .delivered)).0 == 1)
        let all = try await store.deliveries(WebhookDeliveryQuery(of: webhook.id, limit: 10))
        #expect(all.allSatisfy { $0.state == .waiting && $0.attempts == 0 })
        #expect(try await due(webhook, at: 20, in: store).map(\.event.id) == ["evt_1"])
        for _ in 1...4 {
            let found = try #require(try await due(webhook, at: 20, in: store).first)
            try await settle(attempt(found, .failed), of: webhook, in: store)
        }
        let first = try await replay(.since(Sample.start, .failed), limit: 3)
        #expect(first.0 == 3)
        #expect(try await replay(.since(Sample.start, .failed), after: try #require(first.1), limit: 3) == (1, nil))
    }

    private static let removes = StoragePromise<any BackendStore>("with a webhook goes what waits for it, piece by piece") {
        store in
        let (webhook, other) = (try await add(to: store), try await add(to: store))
        for number in 1...3 { for one in [webhook, other] { try await store.add(event("\(number)", of: "a"), to: one.id) } }
        #expect(try await store.removeWebhook(webhook.id, audit: nil))
        #expect(try await !store.removeWebhook(webhook.id, audit: nil))
        #expect(try await store.webhook(webhook.id) == nil)
        #expect(try await store.webhooks() == [other])
        #expect(try await store.removeDeliveries(before: Sample.start, limit: 2) == 2)
        #expect(try await store.removeDeliveries(before: Sample.start, limit: 2) == 1)
        #expect(try await store.removeDeliveries(before: Sample.start, limit: 2) == 0)
        #expect(try await due(webhook, in: store).isEmpty)
        #expect(try await store.waitingDeliveries(of: other.id, limit: 10) == 3)
        #expect(try await store.removeDeliveries(before: Sample.time(1), limit: 10) == 3)
    }

    private static let forgets = StoragePromise<any BackendStore>("with an erased user goes what names them") { store in
        let ann = try await Sample.user("Ann", in: store)
        let webhook = try await add(to: store)
        try await store.add(event("1", of: "phone", user: "Ann"), to: webhook.id)
        try await store.add(event("2", of: "other", user: "bob"), to: webhook.id)
        try await store.add(event("3", of: "send"), to: webhook.id)
        let exported = try await store.records("webhook_deliveries", of: ann.id, after: nil, limit: 10)
        #expect(exported.count == 1)
        try await store.erase(ann, at: Sample.start)
        #expect(try await due(webhook, in: store).map(\.event.id) == ["evt_2", "evt_3"])
    }
}
