import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

/// Every state of a phone against every event: what the system then wants done, and how it stands afterwards.
@Suite("What the operating system decides")
struct PhoneSystemTests {
    /// The states in which a push, a user or the system may find a phone.
    enum State: String, CaseIterable, CustomTestStringConvertible {
        case foreground, background, suspended, terminated, forceQuit, locked, beforeFirstUnlock

        var testDescription: String { rawValue }

        func system(_ settings: SystemSettings = .allowed, wakesPerHour: Int? = nil) -> PhoneSystem {
            var system = PhoneSystem(settings: settings, wakesPerHour: wakesPerHour)
            for event in way { _ = system.handle(event, at: PhoneSystemTests.now) }
            return system
        }

        private var way: [SystemEvent] {
            switch self {
            case .foreground: [.openApp]
            case .background: [.openApp, .goHome]
            case .suspended: [.openApp, .goHome, .idle]
            case .terminated: []
            case .forceQuit: [.openApp, .forceQuit]
            case .locked: [.openApp, .lock, .idle]
            case .beforeFirstUnlock: [.openApp, .restart]
            }
        }
    }

    /// One event, and for each state in the order above what is done and how the phone stands then.
    struct Row: CustomTestStringConvertible {
        var name: String
        var event: SystemEvent
        var outcomes: [String]
        var settings = SystemSettings.allowed
        var wakesPerHour: Int?

        var testDescription: String { name }
    }

    static let now = Timestamp(seconds: 1_000_000)
    static let push = IncomingPush(payload: Data(), pushType: "background", apnsID: "a", collapseID: nil, topic: "t")

    private static func same(_ done: String) -> [String] {
        ["active", "background", "suspended", "notRunning", "forceQuit", "suspended locked", "notRunning beforeFirstUnlock"]
            .map { "\(done): \($0)" }
    }

    private static func each(_ outcomes: String...) -> [String] { outcomes }

    static let rows: [Row] = [
        Row(
            name: "an alert that the extension may change", event: .alert(.init(isMutable: true)),
            outcomes: same("extension show")),
        Row(name: "an alert as it is", event: .alert(.init()), outcomes: same("show")),
        Row(name: "a number for the icon", event: .badge(3), outcomes: same("badge3")),
        Row(
            name: "a background push", event: .background(push),
            outcomes: each(
                "hand: active", "hand: background", "resume hand: background", "start hand: background",
                "drop-forceQuit: forceQuit", "resume hand: background locked", "start hand: background beforeFirstUnlock")),
        Row(
            name: "the app's refresh", event: .refresh,
            outcomes: each(
                "refresh: active", "refresh: background", "resume refresh: background", "start refresh: background",
                "drop-forceQuit: forceQuit", "resume refresh: background locked",
                "start refresh: background beforeFirstUnlock")),
        Row(
            name: "content that is ready", event: .notice(.init()),
            outcomes: each(
                "asAppSays: active", "banner: background", "banner: suspended", "banner: notRunning", "banner: forceQuit",
                "lockScreen: suspended locked", "lockScreen: notRunning beforeFirstUnlock")),
        Row(
            name: "a tap on the icon", event: .openApp,
            outcomes: each(
                "noBanner active: active", "noBanner active: active", "noBanner resume active: active",
                "noBanner start active: active", "noBanner start active: active", "refuse: suspended locked",
                "refuse: notRunning beforeFirstUnlock")),
        Row(
            name: "home", event: .goHome,
            outcomes: each(
                "wait: background", "wait: background", "wait: suspended", "wait: notRunning", "wait: forceQuit",
                ": suspended locked", ": notRunning beforeFirstUnlock")),
        Row(
            name: "lock", event: .lock,
            outcomes: each(
                "noBanner wait: background locked", "noBanner wait: background locked", "noBanner wait: suspended locked",
                "noBanner wait: notRunning locked", "noBanner wait: forceQuit locked", ": suspended locked",
                ": notRunning beforeFirstUnlock")),
        Row(
            name: "unlock", event: .unlock,
            outcomes: each(
                ": active", ": background", ": suspended", ": notRunning", ": forceQuit", "resume active: active",
                "data: notRunning")),
        Row(
            name: "force quit", event: .forceQuit,
            outcomes: each(
                "end: forceQuit", "end: forceQuit", "end: forceQuit", ": forceQuit", ": forceQuit", "end: forceQuit locked",
                ": forceQuit beforeFirstUnlock")),
        Row(
            name: "the system needs memory", event: .endApp,
            outcomes: each(
                "end: notRunning", "end: notRunning", "end: notRunning", ": notRunning", ": forceQuit",
                "end: notRunning locked", ": notRunning beforeFirstUnlock")),
        Row(
            name: "restart", event: .restart,
            outcomes: each(
                "noData end noBanner: notRunning beforeFirstUnlock", "noData end noBanner: notRunning beforeFirstUnlock",
                "noData end noBanner: notRunning beforeFirstUnlock", "noData noBanner: notRunning beforeFirstUnlock",
                "noData noBanner: notRunning beforeFirstUnlock", "noData end noBanner: notRunning beforeFirstUnlock",
                "noData noBanner: notRunning beforeFirstUnlock")),
        Row(name: "remove the app", event: .removeApp, outcomes: gone("clear badge0 noFiles unregister gone")),
        Row(name: "install the app anew", event: .installApp, outcomes: gone("clear badge0 noFiles unregister there")),
        Row(name: "restore a backup", event: .restoreBackup, outcomes: gone("clear badge0 noSecrets unregister there")),
        Row(name: "the new app is there", event: .replaced(isInstalled: true), outcomes: same("")),
        Row(
            name: "a tap on a notification", event: .touch(.open),
            outcomes: each(
                "noBanner active: active", "noBanner active: active", "noBanner resume active: active",
                "noBanner start active: active", "noBanner start active: active", "noBanner resume active: active",
                "data noBanner start active: active")),
        Row(name: "an answer in a notification", event: .touch(.reply), outcomes: woken),
        Row(name: "a dismissal", event: .touch(.dismiss), outcomes: woken),
        Row(name: "the end of a task", event: .taskEnded, outcomes: same("wait")),
        Row(
            name: "seconds without a task", event: .idle,
            outcomes: each(
                ": active", ": suspended", ": suspended", ": notRunning", ": forceQuit", ": suspended locked",
                ": notRunning beforeFirstUnlock")),
        Row(name: "low power is switched on", event: .settings(.with { $0.lowPower = true }), outcomes: same("")),
        Row(name: "permission is taken away", event: .settings(.with { $0.permission = .denied }), outcomes: same("badge0")),
    ]

    private static let woken = [
        ": active", ": background", "resume: background", "start: background", "start: background",
        "resume: background locked", "start: background beforeFirstUnlock",
    ]

    private static func gone(_ done: String) -> [String] {
        [
            "end \(done): notRunning replacing", "end \(done): notRunning replacing", "end \(done): notRunning replacing",
            "\(done): notRunning replacing", "\(done): notRunning replacing", "end \(done): notRunning locked replacing",
            "\(done): notRunning beforeFirstUnlock replacing",
        ]
    }

    /// The same pushes under other settings.
    static let conditions: [Row] = [
        held("background refresh off", "backgroundRefreshOff", .with { $0.backgroundRefresh = false }),
        held("low power", "lowPower", .with { $0.lowPower = true }),
        held("the budget spent", "overBudget", .allowed, wakesPerHour: 0),
        Row(
            name: "an alert without permission", event: .alert(.init(isMutable: true, badge: 3)),
            outcomes: same("drop-notificationsOff"), settings: .with { $0.permission = .denied }),
        Row(
            name: "an alert before the user was asked", event: .alert(.init(isMutable: true)),
            outcomes: same("drop-notificationsOff"), settings: .with { $0.permission = .notDetermined }),
        Row(
            name: "a number without permission", event: .badge(3), outcomes: same(""),
            settings: .with { $0.permission = .denied }),
        Row(
            name: "an alert with alerts off", event: .alert(.init(isMutable: true, badge: 3)),
            outcomes: same("drop-alertsOff badge3"), settings: .with { $0.alerts = false }),
        Row(
            name: "content with alerts off", event: .notice(.init()), outcomes: same("drop-alertsOff"),
            settings: .with { $0.alerts = false }),
        Row(
            name: "content without permission", event: .notice(.init()), outcomes: same("drop-notificationsOff"),
            settings: .with { $0.permission = .denied }),
        Row(
            name: "content in a Focus", event: .notice(.init()),
            outcomes: each(
                "asAppSays: active", "quietly: background", "quietly: suspended", "quietly: notRunning", "quietly: forceQuit",
                "quietly: suspended locked", "quietly: notRunning beforeFirstUnlock"), settings: .with { $0.focus = true }),
        Row(
            name: "urgent content in a Focus", event: .notice(.init(isUrgent: true)),
            outcomes: each(
                "asAppSays: active", "banner: background", "banner: suspended", "banner: notRunning", "banner: forceQuit",
                "lockScreen: suspended locked", "lockScreen: notRunning beforeFirstUnlock"), settings: .with { $0.focus = true }),
    ]

    private static func held(
        _ name: String, _ reason: String, _ settings: SystemSettings, wakesPerHour: Int? = nil
    ) -> Row {
        Row(
            name: "a background push with \(name)", event: .background(push),
            outcomes: each(
                "hand: active", "hold-\(reason): background", "hold-\(reason): suspended", "hold-\(reason): notRunning",
                "drop-forceQuit: forceQuit", "hold-\(reason): suspended locked",
                "hold-\(reason): notRunning beforeFirstUnlock"), settings: settings, wakesPerHour: wakesPerHour)
    }

    @Test("every event in every state", arguments: rows + conditions)
    func pairs(row: Row) {
        #expect(row.outcomes.count == State.allCases.count)
        for (state, expected) in zip(State.allCases, row.outcomes) {
            var system = state.system(row.settings, wakesPerHour: row.wakesPerHour)
            let done = system.handle(row.event, at: Self.now)
            #expect("\(done.summary): \(system.summary)" == expected, "\(row.name) while \(state.rawValue)")
        }
    }

    @Test("an app that is being replaced gets nothing, and is replaced once", arguments: rows)
    func replacing(row: Row) {
        for event in [SystemEvent.removeApp, .installApp, .restoreBackup] {
            var system = PhoneSystem(settings: .allowed)
            _ = system.handle(event, at: Self.now)
            let done = system.handle(row.event, at: Self.now)
            let allowed: Set<String> = ["drop-notInstalled", "refuse", "", "wait", "noData noBanner", "badge0", "noBanner wait"]
            #expect(allowed.contains(done.summary), "\(row.name): \(done.summary)")
            #expect(!system.process.isRunning)
        }
    }

    @Test("a removed app gets nothing and refuses every touch", arguments: rows)
    func removed(row: Row) {
        var system = PhoneSystem(settings: .allowed, isInstalled: false)
        let done = system.handle(row.event, at: Self.now)
        let allowed: Set<String> = [
            "drop-notInstalled", "refuse", "", "wait", "noFiles there", "noData noBanner", "badge0", "noBanner wait",
        ]
        #expect(allowed.contains(done.summary), "\(row.name): \(done.summary)")
        #expect(!system.process.isRunning)
    }
}

extension SystemSettings {
    static var allowed: SystemSettings { with { _ in } }

    static func with(_ change: (inout SystemSettings) -> Void) -> SystemSettings {
        var settings = SystemSettings()
        settings.permission = .granted
        change(&settings)
        return settings
    }
}

extension PhoneSystem {
    /// Its state in short.
    fileprivate var summary: String {
        [
            process.state.rawValue, lock == .unlocked ? "" : lock.rawValue,
            isReplacing ? "replacing" : isInstalled ? "" : "removed",
        ]
        .filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension [SystemInstruction] {
    var summary: String { map(\.name).joined(separator: " ") }
}

extension SystemInstruction {
    fileprivate var name: String {
        switch self {
        case .runExtension: "extension"
        case .showNotice: "show"
        case .place(let place): place.rawValue
        case .setBadge(let badge): "badge\(badge)"
        case .startApp: "start"
        case .resumeApp: "resume"
        case .endApp: "end"
        case .handOver: "hand"
        case .refreshApp: "refresh"
        case .hold(let reason): "hold-\(reason.rawValue)"
        case .drop(let reason): "drop-\(reason.rawValue)"
        case .refuse: "refuse"
        case .unlockData: "data"
        case .lockData: "noData"
        case .becomeActive: "active"
        case .hideBanner: "noBanner"
        case .clearNotices: "clear"
        case .suspendLater: "wait"
        case .removeFiles: "noFiles"
        case .removeSecrets: "noSecrets"
        case .unregister: "unregister"
        case .replace(let isInstalled): isInstalled ? "there" : "gone"
        }
    }
}
