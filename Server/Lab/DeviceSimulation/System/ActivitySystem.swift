import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the operating system of a phone does with Live Activities: a value without a clock, a disk or a network
/// (Reference/LiveActivities.md#1-2 and #2).
struct ActivitySystem: Hashable, Sendable, Codable {
    /// One activity on the phone.
    struct Item: Hashable, Sendable, Codable {
        /// The name that the system gives it.
        var id: String
        var type: String
        var attributes: JSONValue
        var state: JSONValue
        /// The `timestamp` of the newest content.
        var stamp: Int64
        var staleAt: Timestamp?
        var relevance = 0.0
        var startedAt: Timestamp
        var endedAt: Timestamp?
        /// When the system takes it from the lock screen.
        var removedAt: Timestamp?
        /// The channel whose pushes change it; one without a channel has a token of its own.
        var channel: String?
        /// Whether the user has answered the question whether the app may go on. Until then there is no update token.
        var isAllowed: Bool
        /// The alert of the newest push that had one, and when it came.
        var alert: PhoneSnapshot.Activity.Alert?
        var alertedAt: Timestamp?
        /// When the system ends it, at the latest; of one that has ended, when its card goes.
        var changesAt: Timestamp? { endedAt == nil ? startedAt + ActivitySystem.lifetime : removedAt }

        /// The number that the server put into the attributes.
        var number: Int64? { attributes.members?[ActivityKey.id]?.wholeNumber }
        var revision: Int64? { state.members?[ActivityKey.revision]?.wholeNumber }

        /// The rich notification whose picture the state names.
        var picture: RichID? {
            guard let value = state.members?[ActivityKey.picture] else { return nil }
            if case .text(let text) = value { return RichID(text) }
            return value.wholeNumber.flatMap { Int32(exactly: $0) }.flatMap { RichID(number: $0) }
        }

        func isStale(at now: Timestamp) -> Bool { staleAt.map { $0 <= now } ?? false }
    }

    /// Why a push did nothing, although APNs has taken it.
    enum Drop: String, Hashable, Sendable {
        case disabled = "Live Activities of this app are off"
        case noAlert = "a start without an alert"
        case unknownType = "the app has no such type of attributes"
        case malformed = "a part is missing or of another type"
        case tooLarge = "attributes and state have more than 4 KB"
        case tooMany = "the app has five already"
        case unknownChannel = "there is no such channel"
        case ended = "the activity is over, or its token is another's"
        case outdated = "a newer content is shown already"
        case overBudget = "too many urgent updates within an hour"
    }

    /// What became of a push.
    enum Outcome: Hashable, Sendable {
        case started(String)
        case updated(String, alerts: Bool)
        case ended(String)
        /// The phone saves power and shows it later.
        case delayed
        case dropped(Drop)
    }

    /// An update that waits.
    private struct Delayed: Hashable, Codable {
        var payload: Data
        var target: String
        var dueAt: Timestamp
    }

    static let maximumCount = 5
    private static let maximumBytes = 4096
    private static let lifetime: Duration = .seconds(8 * 3600)
    private static let afterlife: Duration = .seconds(4 * 3600)
    // Apple publishes neither number; these are choices of the simulation.
    private static let powerSavingDelay: Duration = .seconds(30)
    private var urgentLimit: Int { allowsFrequentUpdates ? 160 : 40 }

    /// The user's switch.
    var isEnabled = true
    /// The user's switch for more frequent updates.
    var allowsFrequentUpdates = false
    /// When urgent updates came within the last hour.
    private var urgentAt: [Timestamp] = []
    private var delayed: [Delayed] = []
    /// Whether the user has answered the question once for all.
    var isAlwaysAllowed = false
    private(set) var items: [Item] = []
    /// Absent in what an older phone has kept.
    private var endsAtRestart: Bool?

    /// Whether activities are there again when the phone was switched off and on. Users saw that; Apple does not promise it
    /// (Reference/LiveActivities.md#3-3).
    var survivesRestart: Bool {
        get { endsAtRestart != true }
        set { endsAtRestart = !newValue }
    }

    /// Whether there is one that pushes may still change.
    var hasLive: Bool { items.contains { $0.endedAt == nil } }

    /// As the system orders them: the most relevant first, and of equals the one that started first.
    var ordered: [Item] { items.sorted { ($0.relevance, $1.startedAt) > ($1.relevance, $0.startedAt) } }

    /// Whether an update waits while the phone saves power.
    func isDelayed(_ id: String) -> Bool { delayed.contains { $0.target == id } }

    /// The channels that the phone has to follow.
    var channels: Set<String> { Set(items.filter { $0.endedAt == nil }.compactMap(\.channel)) }

    /// Takes in a push to the start token of a type, where `target` is absent, or to an activity.
    mutating func receive(
        _ payload: Data, startOf type: String?, target: String?, knownTypes: [String], newID: String, priority: Int = 10,
        savesPower: Bool = false, at now: Timestamp
    ) -> Outcome {
        expire(at: now)
        guard let aps = (try? JSONDecoder().decode(JSONValue.self, from: payload))?.members?["aps"]?.members,
            let stamp = aps["timestamp"]?.wholeNumber, let state = aps["content-state"], state.members != nil
        else { return .dropped(.malformed) }
        switch aps["event"] {
        case .text("start"): return start(aps, state, stamp, of: type, knownTypes, newID, at: now)
        case .text("update"):
            if priority < 10, savesPower, let target { return delay(payload, of: target, at: now) }
            guard priority < 10 || spendUrgent(at: now) else { return .dropped(.overBudget) }
            return change(aps, state, stamp, of: target, at: now)
        case .text("end"): return change(aps, state, stamp, of: target, at: now)
        default: return .dropped(.malformed)
        }
    }

    private mutating func spendUrgent(at now: Timestamp) -> Bool {
        urgentAt.removeAll { $0 + .seconds(3600) <= now }
        guard urgentAt.count < urgentLimit else { return false }
        urgentAt.append(now)
        return true
    }

    /// Only the newest of an activity waits, for as long as the first did.
    private mutating func delay(_ payload: Data, of target: String, at now: Timestamp) -> Outcome {
        let former = delayed.first { $0.target == target }
        delayed.removeAll { $0.target == target }
        delayed.append(Delayed(payload: payload, target: target, dueAt: former?.dueAt ?? now + Self.powerSavingDelay))
        return .delayed
    }

    /// The phone saves power no more: what waited is shown now.
    mutating func endPowerSaving(at now: Timestamp) {
        for index in delayed.indices { delayed[index].dueAt = now }
        expire(at: now)
    }

    /// Shows what has waited long enough.
    private mutating func showDelayed(at now: Timestamp) {
        let due = delayed.filter { $0.dueAt <= now }
        delayed.removeAll { $0.dueAt <= now }
        for update in due {
            _ = receive(update.payload, startOf: nil, target: update.target, knownTypes: [], newID: "", priority: 5, at: now)
        }
    }

    private mutating func start(
        _ aps: [String: JSONValue], _ state: JSONValue, _ stamp: Int64, of type: String?, _ known: [String], _ newID: String,
        at now: Timestamp
    ) -> Outcome {
        guard isEnabled else { return .dropped(.disabled) }
        guard let alert = Self.alert(in: aps) else { return .dropped(.noAlert) }
        guard case .text(let name)? = aps["attributes-type"], let attributes = aps["attributes"], attributes.members != nil
        else { return .dropped(.malformed) }
        guard known.contains(name), type == name else { return .dropped(.unknownType) }
        let size = [attributes, state].reduce(0) { $0 + ((try? JSONEncoder().encode($1).count) ?? 0) }
        guard size <= Self.maximumBytes else { return .dropped(.tooLarge) }
        guard items.count(where: { $0.endedAt == nil }) < Self.maximumCount else { return .dropped(.tooMany) }
        var item = Item(
            id: newID, type: name, attributes: attributes, state: state, stamp: stamp, startedAt: now, isAllowed: isAlwaysAllowed)
        (item.alert, item.alertedAt) = (alert, now)
        if case .text(let channel)? = aps["input-push-channel"] { item.channel = channel }
        item.take(aps)
        items.append(item)
        return .started(newID)
    }

    private mutating func change(
        _ aps: [String: JSONValue], _ state: JSONValue, _ stamp: Int64, of target: String?, at now: Timestamp
    ) -> Outcome {
        guard let index = items.firstIndex(where: { $0.id == target && $0.endedAt == nil }) else { return .dropped(.ended) }
        guard stamp > items[index].stamp else { return .dropped(.outdated) }
        (items[index].state, items[index].stamp) = (state, stamp)
        items[index].take(aps)
        let alert = Self.alert(in: aps)
        if let alert { (items[index].alert, items[index].alertedAt) = (alert, now) }
        guard aps["event"] == .text("end") else { return .updated(items[index].id, alerts: alert != nil) }
        items[index].endedAt = now
        let latest = now + Self.afterlife
        let wish = aps["dismissal-date"]?.wholeNumber.map { Timestamp(seconds: $0) }
        items[index].removedAt = min(wish ?? latest, latest)
        expire(at: now)
        return .ended(target ?? "")
    }

    /// What starts in the app itself needs no answer of the user.
    mutating func start(
        type: String, attributes: JSONValue, state: JSONValue, channel: String?, id: String, at now: Timestamp
    ) -> Drop? {
        expire(at: now)
        guard isEnabled else { return .disabled }
        guard items.count(where: { $0.endedAt == nil }) < Self.maximumCount else { return .tooMany }
        var item = Item(
            id: id, type: type, attributes: attributes, state: state, stamp: 0, startedAt: now, isAllowed: true)
        item.channel = channel
        items.append(item)
        return nil
    }

    /// The user's answer to the question.
    mutating func allow(_ id: String, always: Bool) {
        if always { isAlwaysAllowed = true }
        for index in items.indices where always || items[index].id == id { items[index].isAllowed = true }
    }

    /// The user swiped it away, or the app ended it at once. Whether it was there.
    mutating func remove(_ id: String) -> Bool {
        let count = items.count
        items.removeAll { $0.id == id }
        return items.count < count
    }

    /// The app is gone, or the user has switched its activities off.
    mutating func removeAll() { items = [] }

    /// The phone was switched off and on. Returns whether that has taken anything away.
    mutating func restart(at now: Timestamp) -> Bool {
        expire(at: now)
        guard !survivesRestart, !items.isEmpty else { return false }
        removeAll()
        return true
    }

    /// Ends what has lived too long, and removes what has been there long enough.
    mutating func expire(at now: Timestamp) {
        for index in items.indices where items[index].endedAt == nil && items[index].startedAt + Self.lifetime <= now {
            let end = items[index].startedAt + Self.lifetime
            (items[index].endedAt, items[index].removedAt) = (end, end + Self.afterlife)
        }
        items.removeAll { $0.removedAt.map { $0 <= now } ?? false }
        showDelayed(at: now)
    }

    /// When something changes by itself next.
    func nextChange(after now: Timestamp) -> Timestamp? {
        items.flatMap { [$0.changesAt, $0.endedAt == nil ? $0.staleAt : nil] }
            .compactMap(\.self).filter { $0 > now }.min().map { min($0, delayed.map(\.dueAt).min() ?? $0) }
    }

    private static func alert(in aps: [String: JSONValue]) -> PhoneSnapshot.Activity.Alert? {
        guard let alert = aps["alert"]?.members, case .text(let title)? = alert["title"], case .text(let body)? = alert["body"],
            !title.isEmpty, !body.isEmpty
        else { return nil }
        return .init(title: title, body: body)
    }
}

extension ActivitySystem.Item {
    fileprivate mutating func take(_ aps: [String: JSONValue]) {
        staleAt = aps["stale-date"]?.wholeNumber.map { Timestamp(seconds: $0) }
        switch aps["relevance-score"] {
        case .integer(let score)?: relevance = Double(score)
        case .number(let score)?: relevance = score
        default: break
        }
    }
}
