import AuditTrail
import RichPushModel
import ServiceErrors
import SharedAccess
import WireText

/// What an administrator asks of a webhook.
public struct WebhookRequest: Sendable, Codable {
    public var url: String
    /// Types of events, or `*` for all but `send.outcomes`.
    public var events: [String]
    public var description: String?
    /// Whether events are delivered; true if absent.
    public var enabled: Bool?

    /// Creates a request.
    public init(url: String, events: [String], description: String? = nil, enabled: Bool? = nil) {
        self.url = url
        self.events = events
        self.description = description
        self.enabled = enabled
    }

    fileprivate var state: Webhook.State { enabled == false ? .disabled : .enabled }
}

/// A webhook as lists show it.
public struct WebhookAnswer: Sendable, Codable {
    public var id: Int64
    public var url: String
    public var events: [String]
    public var description: String
    public var enabled: Bool
    /// Why the server disabled it.
    public var fault: String?
    /// The secret: in the one answer to the request that made it.
    public var secret: String?
    /// Until when requests are signed with the secret before this one too.
    public var formerSecretUntil: Timestamp?
    /// How many events wait, up to 10,000.
    public var waiting: Int
    public var createdAt: Timestamp
}

/// All webhooks.
public struct WebhookList: Sendable, Codable {
    public var webhooks: [WebhookAnswer]
}

/// An event for a webhook, and what became of it.
public struct WebhookDeliveryAnswer: Sendable, Codable {
    /// The event's id, as the receiver gets it.
    public var id: String
    public var type: String
    public var state: String
    public var happenedAt: Timestamp
    /// When it is tried next.
    public var nextAttemptAt: Timestamp?
    public var attempts: Int
    public var lastAttemptAt: Timestamp?
    public var lastStatus: Int?
    public var lastMilliseconds: Int64?
    /// Why there was no answer, or the first kilobyte of one that was no success.
    public var lastAnswer: String?
    public var data: WebhookData

    init(_ delivery: WebhookDelivery) {
        id = delivery.event.id
        type = delivery.event.kind.rawValue
        state = delivery.state.rawValue
        happenedAt = delivery.event.at
        nextAttemptAt = delivery.dueAt
        attempts = delivery.attempts
        lastAttemptAt = delivery.last?.at
        lastStatus = delivery.last?.status
        lastMilliseconds = delivery.last?.milliseconds
        lastAnswer = delivery.last?.text
        data = delivery.event.data
    }
}

/// A page of deliveries, newest first.
public struct WebhookDeliveryList: Sendable, Codable {
    public var deliveries: [WebhookDeliveryAnswer]
    /// The cursor of the next page; absent on the last.
    public var next: String?
}

/// Which deliveries are made again.
public struct WebhookReplayRequest: Sendable, Codable {
    /// One, by the id of its event.
    public var event: String?
    /// All whose events happened since then, in milliseconds since 1970.
    public var since: Timestamp?
    /// Of those since then only the ones that failed.
    public var failedOnly: Bool?

    /// Creates a request.
    public init(event: String? = nil, since: Timestamp? = nil, failedOnly: Bool? = nil) {
        self.event = event
        self.since = since
        self.failedOnly = failedOnly
    }
}

/// How many deliveries are made again.
public struct WebhookReplayAnswer: Sendable, Codable {
    public var queued: Int
}

/// Which event a ping is.
public struct WebhookPingAnswer: Sendable, Codable {
    public var event: String
}

/// Management of webhooks, for callers who may manage them.
extension RichPushBackend {
    /// The most webhooks.
    public static let webhookLimit = 20
    /// The most deliveries of a page.
    public static let deliveryPageLimit = 100
    /// How far waiting deliveries are counted.
    static let countedDeliveries = 10_000
    private static let replayBatch = 500

    /// Creates a webhook; the answer holds its secret. Throws `invalid-field`, and `quota-exceeded` when there are too many.
    public func createWebhook(_ request: WebhookRequest, by principal: Principal) async throws -> WebhookAnswer {
        let draft = try draft(of: request)
        let (now, salt) = (parts.clock.now, WebhookSecrets.randomSalt())
        let entry = principal.entry(
            .webhookCreated, at: now, details: "state=\(request.state.rawValue) \(Self.details(of: draft))")
        let webhook = try await parts.store.addWebhook(
            draft, state: request.state, salt: salt, limit: Self.webhookLimit, at: now, audit: entry)
        return try await shown(webhook, secret: parts.webhookSecrets.secret(salt: salt))
    }

    /// Replaces what was said of a webhook. Throws `invalid-field` and `not-found`.
    public func changeWebhook(_ id: Int64, to request: WebhookRequest, by principal: Principal) async throws -> WebhookAnswer {
        let draft = try draft(of: request)
        let now = parts.clock.now
        let entry = principal.entry(
            .webhookChanged, at: now, object: "\(id)", details: "state=\(request.state.rawValue) \(Self.details(of: draft))")
        guard
            let webhook = try await parts.store.changeWebhook(id, to: draft, state: request.state, at: now, audit: entry)
        else { throw Self.noWebhook }
        return try await shown(webhook)
    }

    /// Makes a new secret, which the answer holds; requests are signed with the old one too until `overlap` has passed, at most 7 days.
    /// Throws `not-found`, `invalid-field`, and `conflict` while an earlier one still holds besides.
    public func rollWebhookSecret(_ id: Int64, overlap: Duration, by principal: Principal) async throws -> WebhookAnswer {
        guard (.zero ... .seconds(7 * 86_400)).contains(overlap) else {
            throw ServiceError(.invalidField, "overlapSeconds: the old secret may hold for 0 to 604800 seconds")
        }
        let (now, salt) = (parts.clock.now, WebhookSecrets.randomSalt())
        guard let old = try await parts.store.webhook(id) else { throw Self.noWebhook }
        guard old.formerSalt.map({ $0.until <= now }) ?? true else {
            throw ServiceError(.conflict, "the secret was rolled already, and the one before holds still")
        }
        let entry = principal.entry(.webhookChanged, at: now, object: "\(id)", details: "secret=rolled")
        guard let webhook = try await parts.store.rollWebhook(id, salt: salt, formerUntil: now + overlap, audit: entry) else {
            throw Self.noWebhook
        }
        return try await shown(webhook, secret: parts.webhookSecrets.secret(salt: salt))
    }

    /// Removes a webhook, with what waits for it. Throws `not-found`.
    public func removeWebhook(_ id: Int64, by principal: Principal) async throws {
        let entry = principal.entry(.webhookRemoved, at: parts.clock.now, object: "\(id)")
        guard try await parts.store.removeWebhook(id, audit: entry) else { throw Self.noWebhook }
    }

    /// One webhook. Throws `not-found`.
    public func webhook(_ id: Int64) async throws -> WebhookAnswer { try await shown(try await existing(id)) }

    /// All webhooks.
    public func webhooks() async throws -> WebhookList {
        var answers: [WebhookAnswer] = []
        for webhook in try await parts.store.webhooks() { answers.append(try await shown(webhook)) }
        return WebhookList(webhooks: answers)
    }

    /// Queues an event that says nothing, for a look at the receiver. Throws `not-found`, and `conflict` for a disabled webhook.
    public func pingWebhook(_ id: Int64) async throws -> WebhookPingAnswer {
        guard try await existing(id).state == .enabled else {
            throw ServiceError(.conflict, "this webhook is disabled; enable it first")
        }
        let event = WebhookEvent(
            cause: Hexadecimal.random(byteCount: 16), .ping, subject: "ping", at: parts.clock.now, data: WebhookData())
        try await parts.store.add(event, to: id)
        return WebhookPingAnswer(event: event.id)
    }

    /// A page of deliveries, newest first. `limit` is clamped to 1 … 100, default 50. Throws `not-found`, and `invalid-field` for an
    /// unknown state or a malformed cursor.
    public func deliveries(
        of id: Int64, state: String? = nil, before: String? = nil, limit: Int? = nil
    ) async throws -> WebhookDeliveryList {
        let state = try state.map { text in
            guard let state = WebhookDelivery.State(rawValue: text) else {
                let names = WebhookDelivery.State.allCases.map(\.rawValue).joined(separator: ", ")
                throw ServiceError(.invalidField, "state: it is one of \(names), or absent for all")
            }
            return state
        }
        let below = try before.map(Self.numberCursor)
        _ = try await existing(id)
        let limit = min(max(limit ?? 50, 1), Self.deliveryPageLimit)
        let found = try await parts.store.deliveries(
            WebhookDeliveryQuery(of: id, state: state, below: below, limit: limit + 1))
        let page = found.prefix(limit)
        return WebhookDeliveryList(
            deliveries: page.map { WebhookDeliveryAnswer($0) }, next: found.count > limit ? page.last.map { "\($0.number)" } : nil
        )
    }

    /// Queues deliveries again that ended, each under the id that its event had. What waits is not queued twice, so a call that was cut
    /// off can be repeated. Throws `not-found`, also for an event that does not wait to be repeated, and `invalid-field`.
    public func replay(_ request: WebhookReplayRequest, of id: Int64, by principal: Principal) async throws -> WebhookReplayAnswer
    {
        let replays: [WebhookReplay]
        switch (request.event, request.since) {
        case (let event?, nil) where request.failedOnly == nil: replays = [.event(event)]
        case (nil, let since?):
            replays = [.since(since, .failed)] + (request.failedOnly == true ? [] : [.since(since, .delivered)])
        default: throw ServiceError(.invalidField, "event, since: give one of them; failedOnly goes with since")
        }
        _ = try await existing(id)
        let now = parts.clock.now
        let details = request.event.map { "event=\($0)" } ?? "since=\(request.since?.milliseconds ?? 0)"
        try await parts.store.record(principal.entry(.webhookReplayed, at: now, object: "\(id)", details: details))
        var queued = 0
        for replay in replays {
            var next: Int64? = 0
            while let after = next {
                let step = try await parts.store.replay(replay, of: id, after: after, limit: Self.replayBatch, at: now)
                (queued, next) = (queued + step.count, step.next)
            }
        }
        if request.event != nil, queued == 0 {
            throw ServiceError(.notFound, "there is no such event of this webhook, or it waits to be delivered")
        }
        return WebhookReplayAnswer(queued: queued)
    }

    private static let noWebhook = ServiceError(.notFound, "there is no such webhook")

    private static func details(of draft: WebhookDraft) -> String {
        "host=\(OutboundAddress(draft.url)?.host ?? "") events=\(draft.events.map(\.rawValue).joined(separator: ","))"
    }

    private func existing(_ id: Int64) async throws -> Webhook {
        guard let webhook = try await parts.store.webhook(id) else { throw Self.noWebhook }
        return webhook
    }

    private func draft(of request: WebhookRequest) throws(ServiceError) -> WebhookDraft {
        guard let address = OutboundAddress(request.url) else {
            throw ServiceError(
                .invalidField, "url: it is https:// and a host, perhaps a port, a path and a query; no user and no fragment")
        }
        if let reason = parts.settings.webhookRule.refusal(of: address) {
            throw ServiceError(.invalidField, "url: \(reason)")
        }
        let description = request.description ?? ""
        guard description.count <= 200, description.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 }) else {
            throw ServiceError(.invalidField, "description: at most 200 characters on one line")
        }
        let kinds = try Self.kinds(request.events)
        guard parts.hub.decidesForDevices || !kinds.contains(.sendOutcomes) else {
            throw ServiceError(.conflict, "events: the hub elsewhere does not say what becomes of each device")
        }
        return WebhookDraft(url: request.url, events: kinds, description: description)
    }

    private static func kinds(_ names: [String]) throws(ServiceError) -> [WebhookEvent.Kind] {
        let offered = WebhookEvent.Kind.allCases.filter { $0 != .ping }
        // What becomes of each device is much, so it has to be named.
        if names == ["*"] { return offered.filter { $0 != .sendOutcomes } }
        let known = Set(names)
        let kinds = offered.filter { known.contains($0.rawValue) }
        guard !kinds.isEmpty, kinds.count == names.count else {
            throw ServiceError(
                .invalidField, "events: * alone, or some of \(offered.map(\.rawValue).joined(separator: ", ")), each once")
        }
        return kinds
    }

    private func shown(_ webhook: Webhook, secret: WebhookSecret? = nil) async throws -> WebhookAnswer {
        let former = webhook.formerSalt.flatMap { $0.until > parts.clock.now ? $0.until : nil }
        return WebhookAnswer(
            id: webhook.id, url: webhook.draft.url, events: webhook.draft.events.map(\.rawValue),
            description: webhook.draft.description, enabled: webhook.state == .enabled, fault: webhook.fault,
            secret: secret?.text, formerSecretUntil: former,
            waiting: try await parts.store.waitingDeliveries(of: webhook.id, limit: Self.countedDeliveries),
            createdAt: webhook.createdAt)
    }
}
