import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

extension RichPushBackend {
    /// The most sends of a page of a list.
    public static let sendPageLimit = NotificationTelemetry.pageLimit
    /// The most devices of a page of a send's details.
    public static let failurePageLimit = TargetFailure.limit
    /// At how many receipts of a kind counting stops, so that asking where a send stands costs about the same whatever its size.
    static let countedReceipts = 10_000

    /// Where a send of the caller stands.
    public func status(of id: RichID, for principal: Principal) async throws -> SendStatus {
        let (found, extent) = try await followed(id, by: principal)
        let result = try await standing(of: found)
        var answer = result.answer
        guard extent == .all else { return answer }
        answer.failures = try await failures(of: result.telemetry, limit: TargetFailure.limit)?.map(\.shown)
        return answer
    }

    /// The same with what else is known of the send, and with a page of the devices that ended without their push. Only callers
    /// who may read all sends see these: others see no ids of other users' devices.
    ///
    /// `outcome` asks for devices with this outcome only, and `after` goes on (`SendDetails.next`). `limit` is clamped to 1 … 100,
    /// default 50. Throws `forbidden` when a caller who sees no devices asks for some of them. Throws `invalid-field` for a
    /// malformed cursor, and for what is no outcome of a device without its push: no list is kept of the others.
    public func details(
        ofSend id: RichID, outcome: String? = nil, after: String? = nil, limit: Int? = nil, for principal: Principal
    ) async throws -> SendDetails {
        let (found, extent) = try await followed(id, by: principal)
        let outcome = try outcome.map(Self.failedOutcome)
        let place = try after.map(Self.place) ?? .beforeAll
        guard extent == .all || outcome == nil && after == nil else {
            throw ServiceError(
                .forbidden, "outcome, after: you may read the status of your own sends, and not which devices failed")
        }
        let (status, telemetry) = try await standing(of: found)
        var details = SendDetails(
            id: found.id, dueAt: found.dueAt, sender: found.senderName.text, audience: "\(found.audience)", status: status)
        guard extent == .all else { return details }
        let limit = min(max(limit ?? 50, 1), Self.failurePageLimit)
        let failures = try await failures(of: telemetry, outcome: outcome, after: place, limit: limit + 1) ?? []
        details.failures = failures.prefix(limit).map(\.shown)
        details.next = failures.count > limit ? Self.cursor(behind: failures[limit - 1].key) : nil
        return details
    }

    /// The send, if the caller may follow it, and how far they may follow sends.
    private func followed(_ id: RichID, by principal: Principal) async throws -> (RichNotification, AccessExtent) {
        let extent = try principal.require(.readSends)
        guard let found = try await parts.store.notification(id), found.sender == principal.userID || extent == .all else {
            throw Self.unseen
        }
        return (found, extent)
    }

    /// What the hub keeps of the devices that ended without their push; `nil` where all have theirs.
    private func failures(
        of telemetry: NotificationTelemetry?, outcome: TargetOutcome? = nil, after place: SliceKey = .beforeAll, limit: Int
    ) async throws -> [TargetFailure]? {
        guard let telemetry, telemetry.outcomes.contains(where: { $0.key.isFailure && $0.value > 0 }) else { return nil }
        return try await parts.hub.failures(of: telemetry.id, outcome: outcome, after: place, limit: limit)
    }

    private static func failedOutcome(_ text: String) throws -> TargetOutcome {
        guard let outcome = TargetOutcome(rawValue: text), outcome.isFailure else {
            let known = TargetOutcome.allCases.filter(\.isFailure).map(\.rawValue).joined(separator: ", ")
            throw ServiceError(.invalidField, "outcome: one of \(known); others are only counted")
        }
        return outcome
    }

    /// A key may be negative and a cursor is not: on a command line a minus looks like an option.
    private static let firstKey = UInt64(1) << 63

    private static func cursor(behind key: SliceKey) -> String { "\(UInt64(bitPattern: key.number) ^ firstKey)" }

    private static func place(_ text: String) throws -> SliceKey {
        guard text.utf8.first != UInt8(ascii: "+"), let number = UInt64(text) else {
            throw ServiceError(.invalidField, "after: a cursor is the next of the page before")
        }
        return SliceKey(Int64(bitPattern: number ^ firstKey))
    }

    /// A page of what the caller sent, or for a caller who may read all sends what all users sent, newest first, with recalled and
    /// refused ones.
    ///
    /// `before` continues towards older ones (`SendList.next`): sends get growing numbers, so a new one changes no later page.
    /// `limit` is clamped to 1 … 50, default 20. A send that the hub has taken has no status where the hub is elsewhere or does not
    /// answer. Receipts are counted for one send at a time (`status`), and not here.
    ///
    /// Throws `invalid-field` for a malformed cursor, and `not-found` for a sender who is unknown or another user whose sends the caller
    /// may not see.
    public func sends(
        _ filter: SendFilter = SendFilter(), before: String? = nil, limit: Int? = nil, for principal: Principal
    ) async throws -> SendList {
        let limit = min(max(limit ?? 20, 1), Self.sendPageLimit)
        let query = SendListQuery(
            of: try await sender(filter.sender, for: principal), by: try filter.order(before: before), limit: limit + 1)
        let found = try await parts.store.sends(query)
        let page = Array(found.prefix(limit))
        let telemetry = await telemetry(of: page.compactMap(\.trackingID))
        return SendList(
            sends: page.map { send in
                let isKnown = send.trackingID == nil || telemetry != nil
                let found = send.trackingID.flatMap { telemetry?[$0] }
                return SendListEntry(
                    id: send.id, dueAt: send.dueAt, sender: send.senderName.text, audience: "\(send.audience)",
                    status: isKnown ? Self.status(of: send, found, receipts: nil) : nil)
            }, next: found.count > limit ? page.last.map { query.cursor(behind: $0) } : nil)
    }

    /// Whose sends or schedules are listed; `nil` for those of all.
    func sender(_ name: String?, for principal: Principal) async throws -> UserID? {
        let extent = try principal.require(.readSends)
        guard let name else { return extent == .all ? nil : principal.userID }
        guard let user = UserName(name), let found = try await parts.store.user(named: user)?.user,
            found.id == principal.userID || extent == .all
        else { throw ServiceError(.notFound, "sender: there is no such user") }
        return found.id
    }

    /// What the hub says of sends; `nil` where it says nothing of several at once, or does not answer: the list needs no hub.
    private func telemetry(of ids: [NotificationID]) async -> [NotificationID: NotificationTelemetry]? {
        guard !ids.isEmpty else { return [:] }
        do { return try await parts.hub.telemetry(of: ids) } catch is CancellationError { return nil } catch {
            let code = (error as? ServiceError)?.code ?? .internal
            parts.logger.warning(
                "The hub did not say where the sends of a list stand", metadata: ["error_code": "\(code.rawValue)"])
            return nil
        }
    }

    /// Where a send stands, and what the hub said of it.
    private func standing(of send: RichNotification) async throws -> (answer: SendStatus, telemetry: NotificationTelemetry?) {
        let counts = try await parts.store.receiptCounts(of: send.id, limit: Self.countedReceipts)
        guard let id = send.trackingID else { return (Self.status(of: send, nil, receipts: counts), nil) }
        let telemetry = try await parts.hub.telemetry(of: id)
        var status = Self.status(of: send, telemetry, receipts: counts)
        let waves = try await parts.hub.waves(of: id)
        if !waves.isEmpty {
            status.localTimes = waves.bySecond.map(\.shown)
            if let local = try await parts.store.push(of: send.id)?.localTime, waves.allSatisfy({ $0.moment < local.notBefore }) {
                let warning =
                    "the local time had passed in the time zones of all devices when this was asked for, so none gets a push"
                status.warnings = (status.warnings ?? []) + [warning]
            }
        }
        if let split = send.split { status.groups = try await groups(of: send, split, id) }
        return (status, telemetry)
    }

    /// What became of each group. The rest is one if there is any.
    private func groups(
        of send: RichNotification, _ split: SendSplit, _ id: NotificationID
    ) async throws -> [SendStatus.Group] {
        let outcomes = try await parts.hub.groupOutcomes(of: id)
        let receipts = try await parts.store.groupReceipts(
            of: send.id, groups: split.groups.count, limit: Self.countedGroupReceipts)
        let rest = 100 - split.groups.reduce(0) { $0 + $1.percent }
        let own = split.groups.enumerated().map { (number: $0 + 1, name: Optional($1.name), percent: $1.percent) }
        return (own + (rest > 0 ? [(0, nil, rest)] : [])).map { number, name, percent in
            SendStatus.Group(
                name: name, percent: percent,
                outcomes: Dictionary(uniqueKeysWithValues: (outcomes[number] ?? [:]).map { ($0.key.rawValue, $0.value) }),
                receipts: Dictionary(uniqueKeysWithValues: (receipts[number] ?? [:]).map { ($0.key.rawValue, $0.value) }))
        }
    }

    /// Where counting the receipts of a group stops. It reads the index alone.
    private static let countedGroupReceipts = 1_000_000

    /// Where a send stands. Without telemetry the hub has not taken it, or has forgotten it.
    private static func status(
        of send: RichNotification, _ telemetry: NotificationTelemetry?, receipts counts: [Receipt.Kind: Int]?
    ) -> SendStatus {
        let receipts = counts.map { counts in Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) }) }
        if let telemetry { return SendStatus(telemetry, audience: send.audience, receipts: receipts) }
        let isTaken = send.trackingID != nil
        let state: NotificationState =
            if send.isRefused, !isTaken { .failed } else if send.recalledAt != nil { .cancelled } else {
                isTaken ? .completed : .accepted
            }
        return SendStatus(state: state.rawValue, outcomes: [:], receipts: receipts)
    }
}

extension SendStatus {
    fileprivate init(_ telemetry: NotificationTelemetry, audience: TagExpression, receipts: [String: Int]?) {
        self.init(
            state: telemetry.state.rawValue,
            outcomes: Dictionary(uniqueKeysWithValues: telemetry.outcomes.map { ($0.key.rawValue, $0.value) }), receipts: receipts
        )
        (targets, startedAt, endedAt) = (telemetry.targets, telemetry.startedAt, telemetry.endedAt)
        for (reason, count) in telemetry.reasons {
            reasons = reasons ?? [:]
            reasons?[reason.outcome.rawValue, default: [:]][reason.reason, default: 0] += count
        }
        if !telemetry.state.isFinal, let wait = telemetry.wait {
            let words = OutcomeReason.words(of: wait.reason)
            waiting = Waiting(cause: wait.cause.rawValue, reason: wait.reason, words: words)
        }
        if telemetry.targets == 0, audience.namesUsersOnly {
            warnings = ["no device is registered for \(audience): check the names of the users"]
        }
    }
}

/// Which sends a list has.
public struct SendFilter: Hashable, Sendable {
    /// Those of the user of this name.
    public var sender: String?
    /// Those that were due at this moment or later.
    public var since: Timestamp?
    /// Those that were due before this moment.
    public var until: Timestamp?

    /// Creates a filter; without anything it leaves out nothing.
    public init(sender: String? = nil, since: Timestamp? = nil, until: Timestamp? = nil) {
        self.sender = sender
        self.since = since
        self.until = until
    }

    /// The order in which an index has them. A cursor is of one order.
    fileprivate func order(before cursor: String?) throws -> SendListQuery.Order {
        guard since != nil || until != nil else { return .number(below: try RichPushBackend.cursor(cursor, "before")) }
        let (first, end) = (since ?? Timestamp(milliseconds: 0), until ?? Timestamp(milliseconds: .max))
        guard first <= end else { throw ServiceError(.invalidField, "until: it lies before since") }
        let place = try cursor.map { text in
            guard let place = SendListQuery.Place(text) else {
                throw ServiceError(.invalidField, "before: with since or until, a cursor is the next of the page before")
            }
            return place
        }
        return .time(first..<end, below: place)
    }
}

extension SendListQuery {
    fileprivate func cursor(behind send: RichNotification) -> String {
        if case .time = order { return Place(dueAt: send.dueAt, id: send.id).text }
        return "\(send.id)"
    }
}

extension [WaveProgress] {
    /// The hub may cut what is due at one moment into parts that are milliseconds apart; a sender sees them as one.
    fileprivate var bySecond: [WaveProgress] {
        Dictionary(grouping: self, by: \.moment.seconds).sorted { $0.key < $1.key }.map { second, waves in
            WaveProgress(
                moment: waves.map(\.moment).min() ?? Timestamp(seconds: second), zones: waves.flatMap(\.zones),
                isOver: waves.allSatisfy(\.isOver))
        }
    }
}

extension WaveProgress {
    /// Once each, also where users of a zone have hours of their own.
    var knownZones: [String] { Set(zones.map { DeviceClock($0).zone }).filter { !$0.isEmpty }.sorted() }

    fileprivate var shown: SendStatus.LocalTime {
        SendStatus.LocalTime(
            dueAt: moment, timeZones: knownZones, includesOtherZones: zones.count { DeviceClock($0).zone.isEmpty } > 0,
            isOver: isOver)
    }
}

extension TargetFailure {
    fileprivate var shown: SendStatus.Failure {
        SendStatus.Failure(device: record?.text, outcome: outcome.rawValue, reason: reason)
    }
}
