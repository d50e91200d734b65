import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Live Activities on a simulated phone.
extension SimulatedPhone {
    /// Tokens of activities and of widgets have topics of their own (Reference/APNs.md#3-3).
    private func topic(of name: String) -> String {
        configuration.bundleID + (name == ActivityToken.widgets ? ".push-type.widgets" : ".push-type.liveactivity")
    }

    /// A push for the widgets reached the phone: the system runs them, and they read their data.
    func reloadWidgets(_ push: IncomingPush) {
        let detail = ["apns-id": push.apnsID, "push-type": push.pushType, "bytes": "\(push.payload.count)"]
        if push.token == activityTokens[ActivityToken.widgets] {
            story.record(.shown, nil, "The system reloads the widgets of the app", detail, push: push.apnsID)
        } else {
            story.record(.held, nil, "The phone drops the push: its token is not that of the widgets", detail, push: push.apnsID)
        }
    }

    /// A push for an activity reached the phone.
    func receiveActivity(_ push: IncomingPush) async {
        handing += 1
        defer { handing -= 1 }
        if let channel = push.channel {
            let followers = activities.items.filter { $0.channel == channel && $0.endedAt == nil }
            for item in followers { await took(push, await receive(push, startOf: nil, target: item.id)) }
        } else {
            let token = activityTokens.first { $0.value == push.token }?.key
            let outcome = await receive(
                push, startOf: token.flatMap(ActivityToken.type), target: token.flatMap(ActivityToken.activity))
            await took(push, outcome)
        }
        await leaveChannels()
        showActivities()
    }

    private func receive(_ push: IncomingPush, startOf type: String?, target: String?) async -> ActivitySystem.Outcome {
        let outcome = activities.receive(
            push.payload, startOf: type, target: target, knownTypes: configuration.activityTypes,
            newID: identifiers.newIdentifier(), priority: push.priority, savesPower: system.settings.lowPower, at: clock.now)
        guard case .started(let id) = outcome, !(await followChannel(of: id)) else { return outcome }
        return .dropped(.unknownChannel)
    }

    /// Follows the channel of an activity that has just begun, if it has one. What the channel has kept may come at once, so the activity
    /// is there before; if its channel does not exist, it is removed again.
    private func followChannel(of id: String) async -> Bool {
        guard let channel = activities.items.first(where: { $0.id == id })?.channel, !(await follow(channel)) else { return true }
        _ = activities.remove(id)
        return false
    }

    private func took(_ push: IncomingPush, _ outcome: ActivitySystem.Outcome) async {
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
        case .delayed:
            story.record(.held, nil, "The phone saves power and shows the update later", detail, push: push.apnsID)
        case .dropped(let reason):
            story.record(.held, nil, "The phone drops the push: \(reason.rawValue)", detail, push: push.apnsID)
        }
    }

    /// Follows a channel; whether there is one.
    private func follow(_ channel: String) async -> Bool {
        let device = configuration.identity.id
        guard network.isOn, (try? await service.follow(device: device, channel: channel, app: configuration.bundleID)) != nil
        else {
            return false
        }
        followedChannels.insert(channel)
        return true
    }

    /// Leaves the channels that no activity needs any more.
    private func leaveChannels() async {
        let needed = activities.channels
        for channel in followedChannels.subtracting(needed) {
            await service.unfollow(device: configuration.identity.id, channel: channel, app: configuration.bundleID)
        }
        followedChannels = needed
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
        await leaveChannels()
        var wanted = configuration.activityTypes.map(ActivityToken.start)
        if !activities.isEnabled { wanted = [] }
        if configuration.hasWidgets { wanted.append(ActivityToken.widgets) }
        wanted += activities.items.filter { $0.endedAt == nil && $0.isAllowed && $0.channel == nil }.map {
            ActivityToken.update($0.id)
        }
        for name in activityTokens.keys where !wanted.contains(name) {
            await service.unregister(device: configuration.identity.id, topic: topic(of: name), name: name)
            activityTokens[name] = nil
        }
        for name in wanted where activityTokens[name] == nil {
            let token = try? await service.register(
                device: configuration.identity.id, topic: topic(of: name), name: name, isNew: false)
            activityTokens[name] = token?.lowercased()
        }
    }

    /// What the app's engine asks the system.
    func activityReport() async -> ActivityReport {
        activities.removeReplaced()
        await giveActivityTokens()
        var report = ActivityReport()
        if !configuration.activityTypes.isEmpty {
            (report.enabled, report.frequentUpdates) = (activities.isEnabled, activities.allowsFrequentUpdates)
        }
        for type in configuration.activityTypes { report.startTokens[type] = activityTokens[ActivityToken.start(type)] }
        report.widgetToken = activityTokens[ActivityToken.widgets]
        let now = clock.now
        report.activities = activities.items.filter { $0.endedAt == nil }.compactMap { item in
            guard let number = item.number else { return nil }
            return ActivityReport.Entry(
                id: number, state: item.isStale(at: now) ? "stale" : "active",
                token: activityTokens[ActivityToken.update(item.id)], revision: item.revision)
        }
        return report
    }

    /// The pictures that the activities name.
    var activityPictures: Set<RichID> { Set(activities.items.compactMap(\.picture)) }

    /// Where the app has put the picture of an activity for the view that draws it; `nil` while there is none, and while it cannot be read.
    func activityPicture(of id: String) -> (id: RichID, file: URL)? {
        guard protected.isAvailable, let picture = activities.items.first(where: { $0.id == id })?.picture else { return nil }
        let content = configuration.folder.appendingPathComponent("group/content")
        let file = FileContentCache.sharedPicture(of: picture, in: content)
        return FileManager.default.fileExists(atPath: file.path) ? (picture, file) : nil
    }

    /// The app ends activities, at once; `nil` means all of the server's.
    func endActivities(_ numbers: [Int64]?) async {
        for item in activities.items {
            guard let number = item.number, numbers?.contains(number) ?? true else { continue }
            _ = activities.remove(item.id)
        }
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
        case .startActivity(let status):
            try await start(status)
        case .setLiveActivities(let on):
            activities.isEnabled = on
            if !on { activities.removeAll() }
        case .setFrequentActivityUpdates(let on): activities.allowsFrequentUpdates = on
        case .setActivitiesSurviveRestart(let on): activities.survivesRestart = on
        case .rotateActivityTokens:
            for name in activityTokens.keys {
                let token = try? await service.register(
                    device: configuration.identity.id, topic: topic(of: name), name: name, isNew: true)
                if let token { activityTokens[name] = token.lowercased() }
            }
        default: break
        }
        showActivities()
        if case .dismissActivity = action { await reportIfRunning() } else { await wakeForActivities() }
        showActivities()
    }

    /// The system starts no app for what the user removes: the server hears of it from an app that runs, or when it runs next.
    private func reportIfRunning() async {
        await giveActivityTokens()
        guard system.process.state != .suspended else { return }
        await engine?.activitiesChanged()
    }

    /// The phone was switched off and on. For activities that are there again the system starts the app, also before the first unlock:
    /// then the app can read nothing, so it reports nothing and deletes nothing (Reference/LiveActivities.md#3-3).
    func restartActivities() async {
        if activities.restart(at: clock.now) {
            story.record(.held, nil, "The restart has taken the Live Activities away; the app reports that when it runs next")
            await giveActivityTokens()
        } else if activities.hasLive {
            await wakeForActivities()
            let isWoken = system.process.isRunning
            let sentence = "The Live Activities are there again after the restart"
            story.record(isWoken ? .woken : .held, nil, sentence + (isWoken ? ", and the system starts the app for them" : ""))
        }
        showActivities()
    }

    /// What waited while the phone saved power is shown.
    func endPowerSaving() {
        activities.endPowerSaving(at: clock.now)
        showActivities()
    }

    /// What an app does that starts an activity itself: with the number, and on the channel that the server has made.
    private func start(_ status: ActivityStatus) async throws(PhoneActionError) {
        var attributes = status.attributes?.members ?? [:]
        attributes[ActivityKey.id] = .integer(status.id)
        let id = identifiers.newIdentifier()
        let refusal = activities.start(
            type: status.attributesType, attributes: .object(attributes), state: status.state, channel: status.apnsChannel,
            id: id,
            at: clock.now)
        if let refusal { throw .notPossible(Self.sentence(refusal)) }
        guard await followChannel(of: id) else { throw .notPossible(Self.sentence(.unknownChannel)) }
        story.record(.shown, nil, "The app started a Live Activity", [:])
    }

    private static func sentence(_ drop: ActivitySystem.Drop) -> String { "The Live Activity does not start: \(drop.rawValue)" }

    /// The app is removed or replaced.
    func removeActivities() async {
        activities.removeAll()
        await leaveChannels()
        activities.isAlwaysAllowed = false
        await giveUpActivityTokens()
        showActivities()
    }

    private func giveUpActivityTokens() async {
        for name in activityTokens.keys {
            await service.unregister(device: configuration.identity.id, topic: topic(of: name), name: name)
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

    /// The channels that the phone followed when it was kept.
    static func followed(by system: ActivitySystem) -> Set<String> { Set(system.items.compactMap(\.channel)) }

    /// What an earlier run has kept; nothing when the file is missing or broken.
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
        return activities.ordered.map { item in
            let hasToken = activityTokens[ActivityToken.update(item.id)] != nil
            var shown = PhoneSnapshot.Activity(
                id: item.id, number: item.number, type: item.type, attributes: item.attributes, state: item.state,
                phase: item.endedAt != nil ? .ended : item.isStale(at: now) ? .stale : .active, asks: !item.isAllowed,
                alert: item.alert, alertedAt: item.alertedAt, relevance: item.relevance, startedAt: item.startedAt,
                staleAt: item.staleAt, changesAt: item.changesAt,
                updates: item.channel != nil ? .channel : hasToken ? .token : .none, delayed: activities.isDelayed(item.id))
            shown.picture = activityPicture(of: item.id)?.id
            return shown
        }
    }
}

extension PhoneMedia {
    /// A picture that was checked when it was fetched; its first bytes say of which type it is.
    init(picture file: URL) {
        let types: [UInt8: String] = [0x89: "image/png", UInt8(ascii: "G"): "image/gif", UInt8(ascii: "R"): "image/webp"]
        let first = (try? Data(contentsOf: file))?.first
        self.init(mediaType: first.flatMap { types[$0] } ?? "image/jpeg", file: file)
    }
}

/// The names under which a phone keeps the tokens of its activities.
private enum ActivityToken {
    static let widgets = "widgets"
    static func start(_ type: String) -> String { "start:\(type)" }
    static func update(_ activity: String) -> String { "activity:\(activity)" }
    static func type(_ name: String) -> String? { rest(of: name, behind: "start:") }
    static func activity(_ name: String) -> String? { rest(of: name, behind: "activity:") }

    private static func rest(of name: String, behind prefix: String) -> String? {
        name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }
}
