#if canImport(ActivityKit) && canImport(UIKit)
    import ActivityKit
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import WidgetKit

    /// The Live Activities of an app, for its server.
    ///
    /// ```swift
    /// let activities = LiveActivities([LiveActivityType(DeliveryAttributes.self)])
    /// let push = try RichPush.configure(.shop, activities: activities)
    /// ```
    ///
    /// From then on the server hears of every token and activity, and the app ends what is not its user's. It belongs into the app: in an
    /// extension the system shows no activities (Reference/LiveActivities.md#1-2).
    @available(iOS 16.2, *)
    @available(iOSApplicationExtension, unavailable)
    public struct LiveActivities: ActivityHosting {
        private let types: [LiveActivityType]
        private let reloadsWidgets: Bool
        private let reloadsControls: Bool

        /// Takes the types of the app that the server moves, and whether it reloads the app's widgets, which needs iOS 26, and its controls,
        /// which needs iOS 18. The tokens of widgets and controls are read at each launch and when the app comes to the front: the system
        /// names new ones to the widgets' extension alone. The server hears of 32 controls at most.
        public init(_ types: [LiveActivityType] = [], reloadsWidgets: Bool = false, reloadsControls: Bool = false) {
            (self.types, self.reloadsWidgets, self.reloadsControls) = (types, reloadsWidgets, reloadsControls)
        }

        /// What the system has now. Nothing promises an event for it, so it is read each time. Of several activities with one number the
        /// one with the newest revision is in it, of equal ones the last that the system lists; the others end. So does one whose place
        /// another has taken: not before that is shown, because the system may refuse to start it.
        public func report() async -> ActivityReport {
            var report = ActivityReport()
            if !types.isEmpty {
                let authorization = ActivityAuthorizationInfo()
                report.enabled = authorization.areActivitiesEnabled
                report.frequentUpdates = authorization.frequentPushesEnabled
            }
            for type in types {
                report.startTokens[type.name] = type.startToken()
                report.activities += await type.entries()
            }
            let replaced = types.reduce(into: Set<Int64>()) { $0.formUnion($1.replaced()) }
            if report.activities.contains(where: { replaced.contains($0.id) }) {
                await end(Array(replaced))
                report.activities.removeAll { replaced.contains($0.id) }
            }
            if reloadsWidgets, #available(iOS 26.0, *) {
                report.widgetToken = await WidgetCenter.shared.currentPushInfo?.token.hexadecimal
            }
            if reloadsControls, #available(iOS 18.0, *) { report.controlTokens = await Self.controlTokens() }
            return report
        }

        private static let controlLimit = 32

        /// By the kind of the control, with a number: a user may place several of a kind. Absent when the system fails to say.
        @available(iOS 18.0, *)
        private static func controlTokens() async -> [String: String]? {
            guard let placed = try? await ControlCenter.shared.currentControls() else { return nil }
            let tokens = placed.compactMap { control in
                control.pushInfo.map { (kind: name(ofKind: control.kind), token: $0.token.hexadecimal) }
            }
            var (named, counts): ([String: String], [String: Int]) = ([:], [:])
            for (kind, token) in tokens.sorted(by: { ($0.kind, $0.token) < ($1.kind, $1.token) }).prefix(controlLimit) {
                counts[kind, default: 0] += 1
                named["\(kind).\(counts[kind, default: 0])"] = token
            }
            return named
        }

        /// What a server takes as a name.
        private static func name(ofKind kind: String) -> String {
            String(kind.prefix(90).map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" })
        }

        /// The pictures that the activities on the device name.
        public func pictures() async -> Set<RichID> { types.reduce(into: []) { $0.formUnion($1.pictures()) } }

        /// Ends activities and removes them from the display at once; `nil` means all of the server's, also those that have ended.
        public func end(_ activities: [Int64]?) async {
            for type in types { await type.end(activities.map(Set.init)) }
        }

        /// Calls `changed` for each token, activity and state, until the task is cancelled.
        public func observe(_ changed: @escaping @Sendable () async -> Void) async {
            await withTaskGroup(of: Void.self) { group in
                for type in types { group.addTask { await type.observe(changed) } }
                guard !types.isEmpty else { return }
                group.addTask {
                    for await _ in ActivityAuthorizationInfo().activityEnablementUpdates { await changed() }
                }
                group.addTask {
                    for await _ in ActivityAuthorizationInfo().frequentPushEnablementUpdates { await changed() }
                }
            }
        }
    }

    /// One type of Live Activities of an app.
    @available(iOS 16.2, *)
    public struct LiveActivityType: Sendable {
        /// As the server has to name it: without the module.
        public let name: String
        let startToken: @Sendable () -> String?
        let entries: @Sendable () async -> [ActivityReport.Entry]
        let replaced: @Sendable () -> [Int64]
        let pictures: @Sendable () -> [RichID]
        let end: @Sendable (Set<Int64>?) async -> Void
        let observe: @Sendable (@escaping @Sendable () async -> Void) async -> Void

        /// Describes the type with these attributes.
        public init<Attributes: ServerActivityAttributes>(_ attributes: Attributes.Type) {
            name = String(describing: attributes)
            startToken = { Self.startToken(of: Attributes.self) }
            entries = { await Self.entries(of: Attributes.self) }
            replaced = { Activity<Attributes>.activities.compactMap(Self.replaced(by:)) }
            pictures = { Activity<Attributes>.activities.compactMap(Self.picture) }
            end = { numbers in await Self.end(numbers, of: Attributes.self) }
            observe = { changed in await Self.observe(Attributes.self, changed) }
        }

        private static func startToken<Attributes: ServerActivityAttributes>(of type: Attributes.Type) -> String? {
            guard #available(iOS 17.2, *) else { return nil }
            return Activity<Attributes>.pushToStartToken?.hexadecimal
        }

        /// One of each number, because the server keeps one token for it. An app may have asked twice, or at the same time as a push.
        private static func entries<Attributes: ServerActivityAttributes>(
            of type: Attributes.Type
        ) async -> [ActivityReport.Entry] {
            var kept: [Int64: (entry: ActivityReport.Entry, activity: String)] = [:]
            var surplus: Set<String> = []
            for activity in Activity<Attributes>.activities {
                guard let entry = entry(of: activity) else { continue }
                if let other = kept[entry.id] {
                    let isOlder = (entry.revision ?? 0) < (other.entry.revision ?? 0)
                    surplus.insert(isOlder ? activity.id : other.activity)
                    if isOlder { continue }
                }
                kept[entry.id] = (entry, activity.id)
            }
            for id in surplus { await find(id, type)?.end(nil, dismissalPolicy: .immediate) }
            return kept.values.map(\.entry).sorted { $0.id < $1.id }
        }

        /// Absent for one that is over, or not the server's.
        private static func entry<Attributes: ServerActivityAttributes>(
            of activity: Activity<Attributes>
        ) -> ActivityReport.Entry? {
            guard let number = activity.attributes.clarionActivity, let state = word(for: activity.activityState) else {
                return nil
            }
            return ActivityReport.Entry(
                id: number, state: state, token: activity.pushToken?.hexadecimal,
                revision: activity.content.state.clarionRevision)
        }

        /// The number of the one whose place an activity has taken.
        private static func replaced<Attributes: ServerActivityAttributes>(by activity: Activity<Attributes>) -> Int64? {
            ["active", "stale"].contains(word(for: activity.activityState)) ? activity.attributes.clarionReplaces : nil
        }

        private static func picture<Attributes: ServerActivityAttributes>(of activity: Activity<Attributes>) -> RichID? {
            // One that has ended stays on the lock screen for a while.
            activity.activityState == .dismissed ? nil : activity.content.state.clarionPicture
        }

        /// Later systems have more states, in which an activity has not begun.
        private static func word(for state: ActivityState) -> String? {
            switch state {
            case .active: "active"
            case .stale: "stale"
            case .ended, .dismissed: nil
            default: "pending"
            }
        }

        private static func end<Attributes: ServerActivityAttributes>(_ numbers: Set<Int64>?, of type: Attributes.Type) async {
            for activity in Activity<Attributes>.activities {
                guard let number = activity.attributes.clarionActivity, numbers?.contains(number) ?? true else { continue }
                await activity.end(nil, dismissalPolicy: .immediate)
            }
        }

        private static func observe<Attributes: ServerActivityAttributes>(
            _ type: Attributes.Type, _ changed: @escaping @Sendable () async -> Void
        ) async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await observeStartTokens(type, changed) }
                // Those that were there before, and those that the system names again, are followed once.
                var followed: Set<String> = []
                for activity in Activity<Attributes>.activities where followed.insert(activity.id).inserted {
                    group.addTask { [id = activity.id] in await follow(id, type, changed) }
                }
                for await activity in Activity<Attributes>.activityUpdates where followed.insert(activity.id).inserted {
                    group.addTask { [id = activity.id] in await follow(id, type, changed) }
                    await changed()
                }
            }
        }

        private static func observeStartTokens<Attributes: ServerActivityAttributes>(
            _ type: Attributes.Type, _ changed: @Sendable () async -> Void
        ) async {
            guard #available(iOS 17.2, *) else { return }
            for await _ in Activity<Attributes>.pushToStartTokenUpdates { await changed() }
        }

        /// Until the activity is gone. The other sequences need not end with it.
        private static func follow<Attributes: ServerActivityAttributes>(
            _ id: String, _ type: Attributes.Type, _ changed: @escaping @Sendable () async -> Void
        ) async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    guard let activity = find(id, type) else { return }
                    for await _ in activity.pushTokenUpdates { await changed() }
                }
                group.addTask {
                    guard let activity = find(id, type) else { return }
                    for await _ in activity.contentUpdates { await changed() }
                }
                if let activity = find(id, type) {
                    for await state in activity.activityStateUpdates {
                        await changed()
                        if state == .dismissed { break }
                    }
                }
                group.cancelAll()
            }
        }

        /// An activity cannot be handed to another task, so that each looks for it.
        private static func find<Attributes: ServerActivityAttributes>(
            _ id: String, _ type: Attributes.Type
        ) -> Activity<Attributes>? {
            Activity<Attributes>.activities.first { $0.id == id }
        }
    }
#endif
