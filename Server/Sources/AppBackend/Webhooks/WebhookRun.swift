import AuditTrail
import RichPushModel
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Delivers to one webhook what is due, and what becomes due meanwhile.
struct WebhookRun {
    /// How many deliveries are read, and how many attempts are stored at once.
    private static let page = 1_000
    private static let batch = 50

    let dispatcher: WebhookDispatcher
    let lease: WebhookLease
    private var webhook: Webhook { lease.webhook }

    /// Works until nothing is due, the lease ends, or the webhook has to rest. Attempts that were made are stored in any case.
    func deliverDue() async throws {
        // Most of the time there is nothing, and no connection is needed to find that out.
        let due = try await dueDeliveries()
        guard !due.isEmpty else { return }
        guard let address = OutboundAddress(webhook.draft.url) else {
            return try await disable("the URL cannot be read")
        }
        let connection = await dispatcher.transport.connect(to: address)
        var course = WebhookCourse(lease.health, pace: dispatcher.pace)
        let failure = await deliver(due, over: connection, &course)
        await connection.close()
        if let failure { throw failure }
        if let fault = course.fault { try await disable(fault) }
    }

    private func deliver(
        _ due: [WebhookDelivery], over connection: any WebhookConnection, _ course: inout WebhookCourse
    ) async -> (any Error)? {
        let end = dispatcher.clock.uptime + WebhookDispatcher.runTime
        var failure: (any Error)?
        await withTaskGroup(of: (WebhookDelivery, WebhookReply, Duration).self) { group in
            var (underWay, ready, done): (Set<Int64>, [WebhookDelivery], [WebhookAttempt]) = ([], due, [])
            while true {
                if failure == nil, course.isOpen, dispatcher.clock.uptime < end, dispatcher.mayWork(on: webhook) {
                    do {
                        if ready.isEmpty {
                            // Of one subject only the first that waits is due, so what was done is stored first.
                            try await store(&done, &course)
                            ready = try await dueDeliveries().filter { !underWay.contains($0.number) }
                        }
                        while underWay.count < course.width, let next = ready.popLast() {
                            underWay.insert(next.number)
                            group.addTask { await attempt(next, over: connection) }
                        }
                    } catch { failure = error }
                }
                guard let (delivery, reply, time) = await group.next() else { break }
                underWay.remove(delivery.number)
                done.append(course.note(reply, of: delivery, took: time, at: dispatcher.clock.now))
                if done.count >= Self.batch {
                    do { try await store(&done, &course) } catch { failure = error }
                }
            }
            do { try await store(&done, &course) } catch { failure = failure ?? error }
        }
        return failure
    }

    /// What is due, the last first.
    private func dueDeliveries() async throws -> [WebhookDelivery] {
        try await dispatcher.store.dueDeliveries(of: webhook.id, at: dispatcher.clock.now, limit: Self.page).reversed()
    }

    /// Stores attempts. If another node has the lease they are forgotten, and that node makes them again.
    private func store(_ done: inout [WebhookAttempt], _ course: inout WebhookCourse) async throws {
        guard !done.isEmpty else { return }
        let isOurs = try await dispatcher.store.settle(
            done, of: webhook.id, owner: dispatcher.owner, health: course.changedHealth)
        if isOurs { for attempt in done { dispatcher.observer?.attempted(attempt.result) } }
        course.healthWasStored()
        done = []
    }

    private func attempt(
        _ delivery: WebhookDelivery, over connection: any WebhookConnection
    ) async -> (WebhookDelivery, WebhookReply, Duration) {
        let start = dispatcher.clock.uptime
        let reply: WebhookReply
        do { reply = await connection.post(try message(delivery)) } catch { reply = .unreachable("the event cannot be written") }
        return (delivery, reply, dispatcher.clock.uptime - start)
    }

    private func message(_ delivery: WebhookDelivery) throws -> WebhookMessage {
        let event = delivery.event
        let body = Array(
            #"{"type":"\#(event.kind.rawValue)","timestamp":"\#(event.at.inUTC)","data":\#(try event.data.storedText)}"#.utf8)
        let now = dispatcher.clock.now
        var salts = [webhook.salt]
        if let former = webhook.formerSalt, former.until > now { salts.append(former.salt) }
        let signatures = salts.map {
            dispatcher.secrets.secret(salt: $0).signature(id: event.id, seconds: now.seconds, body: body)
        }
        return WebhookMessage(
            headers: [
                ("content-type", "application/json"), ("webhook-id", event.id), ("webhook-timestamp", "\(now.seconds)"),
                ("webhook-signature", signatures.joined(separator: " ")),
            ], body: body)
    }

    private func disable(_ fault: String) async throws {
        let now = dispatcher.clock.now
        let entry = AuditEntry(.webhookDisabled, by: .server, at: now, object: "\(webhook.id)")
        guard try await dispatcher.store.disableWebhook(webhook.id, fault: fault, audit: entry) else { return }
        dispatcher.logger.warning(
            "A webhook was disabled, since its receiver answers no more", metadata: ["webhook_id": "\(webhook.id)"])
    }
}

extension Timestamp {
    /// As a receiver reads the moment of an event: `2027-01-15T08:00:00.000Z`.
    fileprivate var inUTC: String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

/// How the attempts of one run go: what becomes of each, and when the webhook rests.
struct WebhookCourse {
    private let pace: WebhookPace
    private var health: WebhookHealth
    private var hasChanged = false
    /// Why the webhook is to be disabled.
    private(set) var fault: String?

    init(_ health: WebhookHealth, pace: WebhookPace) {
        self.health = health
        // Its end is why there is a run.
        self.health.pausedUntil = nil
        self.pace = pace
    }

    /// Whether attempts may begin.
    var isOpen: Bool { health.pausedUntil == nil && fault == nil }

    /// How many attempts may be made at the same time.
    var width: Int { health.pauses > 0 ? 1 : WebhookDispatcher.width }

    /// The health, if it has to be stored.
    var changedHealth: WebhookHealth? { hasChanged ? health : nil }

    mutating func healthWasStored() { hasChanged = false }

    /// Decides what becomes of a delivery.
    mutating func note(
        _ reply: WebhookReply, of delivery: WebhookDelivery, took time: Duration, at now: Timestamp
    ) -> WebhookAttempt {
        var answer = WebhookDelivery.Answer(at: now, status: nil, milliseconds: time.wholeMilliseconds, text: nil)
        var wish: Duration?
        switch reply {
        case .status(let status, _, _) where (200...299).contains(status):
            answer.status = status
            noteSuccess()
            return WebhookAttempt(delivery, .delivered, answer)
        case .status(let status, let retryAfter, let text):
            (answer.status, answer.text) = (status, text)
            if status == 410 { fault = "the receiver answered 410 Gone" }
            if status == 429 || status == 503 { wish = retryAfter.map { min(.seconds($0), WebhookPace.longestRetryAfter) } }
        case .unreachable(let reason): answer.text = reason
        }
        return WebhookAttempt(delivery, noteFailure(of: delivery, wish, at: now), answer)
    }

    private mutating func noteSuccess() {
        guard health != WebhookHealth() else { return }
        // What the receiver asked for stands until it is over.
        health = WebhookHealth(pausedUntil: health.pauses == 0 ? health.pausedUntil : nil)
        hasChanged = true
    }

    /// While nothing succeeds, an attempt is one of the webhook and counts for no event.
    private mutating func noteFailure(
        of delivery: WebhookDelivery, _ wish: Duration?, at now: Timestamp
    ) -> WebhookAttempt.Result {
        let counts = health.pauses == 0
        (health.failures, hasChanged) = (health.failures + 1, true)
        if health.failures >= WebhookPace.streak, health.pausedUntil == nil {
            health.pauses += 1
            health.pausedUntil = now + max(pace.rest(health.pauses), wish ?? .zero)
            if health.pauses > WebhookPace.rests { fault = "no attempt has succeeded for days" }
        } else if let wish, wish > .zero {
            health.pausedUntil = max(health.pausedUntil ?? now, now + wish)
        }
        guard counts else { return .retry(at: health.pausedUntil ?? now, counts: false) }
        return pace.pause(afterAttempt: delivery.attempts + 1).map { .retry(at: now + max($0, wish ?? .zero), counts: true) }
            ?? .failed
    }
}
