import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Live Activities on a simulated phone.
extension SimulatedPhone {
    /// Tokens of activities have a topic of their own (Reference/APNs.md#3-3).
    private var activityTopic: String { configuration.bundleID + ".push-type.liveactivity" }

    /// A push for an activity reached the phone.
    func receiveActivity(_ push: IncomingPush) async {
        handing += 1
        defer { handing -= 1 }
        let token = activityTokens.first { $0.value == push.token }?.key
        let type = token.flatMap(ActivityToken.type)
        let target = token.flatMap(ActivityToken.activity)
        let outcome = activities.receive(
            push.payload, startOf: type, target: target, knownTypes: configuration.activityTypes,
            newID: identifiers.newIdentifier(), at: clock.now)
        let detail = ["apns-id": push.apnsID, "push-type": push.pushType, "bytes": "\(push.payload.count)"]
        switch outcome {
        case .started:
            story.record(.shown, nil, "A push started a Live Activity", detail, push: push.apnsID)
            // The system lets the app run for a moment, for its tokens.
            await wakeForActivities()
        case .updated(_, let alerts):
            let sentence = alerts ? "The Live Activity changed, with an alert" : "The Live Activity changed"
            story.record(.shown, nil, sentence, detail, push: push.apnsID)
        case .ended:
            story.record(.shown, nil, "The Live Activity ended", detail, push: push.apnsID)
            await wakeForActivities()
        case .dropped(let reason):
            story.record(.held, nil, "The phone drops the push: \(reason.rawValue)", detail, push: push.apnsID)
        }
        showActivities()
    }

    /// Lets the app look at its activities: if it runs, or if the system may start it.
    private func wakeForActivities() async {
        guard system.process.state != .forceQuit, system.isInstalled else { return }
        await giveActivityTokens()
        if let engine { return await engine.activitiesChanged() }
        for instruction in system.handle(.refresh, at: clock.now) where instruction == .refreshApp {
            let ends = ends
            if let app = await app(since: ends, nil, nil) { await app.activitiesChanged() }
            await endTask(since: ends)
        }
    }

    /// Gets the tokens that the phone needs and does not have, and gives up those that are over.
    func giveActivityTokens() async {
        guard network.isOn, system.isInstalled else { return }
        activities.expire(at: clock.now)
        var wanted = configuration.activityTypes.map(ActivityToken.start)
        if !activities.isEnabled { wanted = [] }
        wanted += activities.items.filter { $0.endedAt == nil && $0.isAllowed }.map { ActivityToken.update($0.id) }
        for name in activityTokens.keys where !wanted.contains(name) {
            await service.unregister(device: configuration.identity.id, topic: activityTopic, name: name)
            activityTokens[name] = nil
        }
        for name in wanted where activityTokens[name] == nil {
            let token = try? await service.register(
                device: configuration.identity.id, topic: activityTopic, name: name, isNew: false)
            activityTokens[name] = token?.lowercased()
        }
    }

    /// What the app's engine asks the system.
    func activityReport() async -> ActivityReport {
        await giveActivityTokens()
        var report = ActivityReport()
        for type in configuration.activityTypes { report.startTokens[type] = activityTokens[ActivityToken.start(type)] }
        let now = clock.now
        report.activities = activities.items.filter { $0.endedAt == nil }.compactMap { item in
            guard let number = item.number else { return nil }
            return ActivityReport.Entry(
                id: number, state: item.isStale(at: now) ? "stale" : "active",
                token: activityTokens[ActivityToken.update(item.id)], revision: item.revision)
        }
        return report
    }

    /// The app ends activities, at once.
    func endActivities(_ numbers: [Int64]) async {
        for item in activities.items where item.number.map(numbers.contains) ?? false { _ = activities.remove(item.id) }
        await giveActivityTokens()
        showActivities()
    }

    /// What the user does with them.
    func use(activity action: PhoneAction) async throws(PhoneActionError) {
        switch action {
        case .allowActivity(let id, let always):
            guard activities.items.contains(where: { $0.id == id }) else { throw .notPossible("The Live Activity is gone") }
            activities.allow(id, always: always)
        case .dismissActivity(let id):
            guard activities.remove(id) else { throw .notPossible("The Live Activity is gone") }
        case .setLiveActivities(let on):
            activities.isEnabled = on
            if !on { activities.removeAll() }
        case .rotateActivityTokens:
            for name in activityTokens.keys {
                let token = try? await service.register(
                    device: configuration.identity.id, topic: activityTopic, name: name, isNew: true)
                if let token { activityTokens[name] = token.lowercased() }
            }
        default: break
        }
        showActivities()
        await wakeForActivities()
        showActivities()
    }

    /// The app is removed or replaced.
    func removeActivities() async {
        activities.removeAll()
        activities.isAlwaysAllowed = false
        await giveUpActivityTokens()
        showActivities()
    }

    private func giveUpActivityTokens() async {
        for name in activityTokens.keys {
            await service.unregister(device: configuration.identity.id, topic: activityTopic, name: name)
        }
        activityTokens = [:]
    }

    /// Shows them, and again when one becomes stale or goes.
    private func showActivities() {
        activities.expire(at: clock.now)
        publish()
        activityTimer?.cancel()
        guard let next = activities.nextChange(after: clock.now) else { return }
        let (clock, pause) = (clock, next - clock.now)
        activityTimer = Task {
            guard (try? await clock.sleep(for: pause)) != nil else { return }
            await wakeForActivities()
            showActivities()
        }
    }

    private static let fileName = "activities.json"

    private struct Kept: Codable {
        var system: ActivitySystem
        var tokens: [String: String]
    }

    /// What an earlier run has kept; a file that is missing or broken is as good as none.
    static func keptActivities(in folder: URL) -> (ActivitySystem, [String: String]) {
        let data = try? Data(contentsOf: folder.appendingPathComponent(fileName))
        let kept = data.flatMap { try? JSONDecoder().decode(Kept.self, from: $0) }
        return (kept?.system ?? ActivitySystem(), kept?.tokens ?? [:])
    }

    func keepActivities() {
        let file = configuration.folder.appendingPathComponent(Self.fileName)
        try? JSONEncoder().encode(Kept(system: activities, tokens: activityTokens)).write(to: file, options: .atomic)
    }

    /// As the display shows them: the most relevant first.
    var shownActivities: [PhoneSnapshot.Activity] {
        let now = clock.now
        return activities.items.sorted { ($0.relevance, $1.startedAt) > ($1.relevance, $0.startedAt) }.map { item in
            PhoneSnapshot.Activity(
                id: item.id, number: item.number, type: item.type, attributes: item.attributes, state: item.state,
                phase: item.endedAt != nil ? .ended : item.isStale(at: now) ? .stale : .active, asks: !item.isAllowed,
                alert: item.alert, startedAt: item.startedAt)
        }
    }
}

/// The names under which a phone keeps the tokens of its activities.
private enum ActivityToken {
    static func start(_ type: String) -> String { "start:\(type)" }
    static func update(_ activity: String) -> String { "activity:\(activity)" }
    static func type(_ name: String) -> String? { rest(of: name, behind: "start:") }
    static func activity(_ name: String) -> String? { rest(of: name, behind: "activity:") }

    private static func rest(of name: String, behind prefix: String) -> String? {
        name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }
}
