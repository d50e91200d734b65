import RichPushModel

/// What the operating system of a phone decides: a value without a clock, a disk or a network. An event goes in, instructions
/// come out (Reference/IOSClient.md#2, Reference/APNs.md#6-4 and #6-5).
struct PhoneSystem: Hashable, Sendable {
    private(set) var process = AppProcess()
    private(set) var lock = PhoneLock.unlocked
    private(set) var settings: SystemSettings
    private(set) var isInstalled: Bool
    /// The app is being removed or replaced. It is not there until that is over, and nothing else of the kind begins.
    private(set) var isReplacing = false
    /// The one background push that is kept for an app that may not run now.
    private(set) var kept: IncomingPush?
    private var budget: BackgroundBudget
    private let budgetByDefault: Bool
    /// Apple's advice: two or three an hour (Reference/APNs.md#6-4).
    private static let usualWakes = 3

    init(settings: SystemSettings = SystemSettings(), isInstalled: Bool = true, wakesPerHour: Int? = nil) {
        self.settings = settings
        self.isInstalled = isInstalled
        budgetByDefault = wakesPerHour != nil
        budget = BackgroundBudget(wakesPerHour: wakesPerHour ?? Self.usualWakes)
    }

    /// Whether wakes have a budget now.
    var hasWakeBudget: Bool { settings.wakeBudget ?? budgetByDefault }

    /// Takes an event in and says what is to be done.
    mutating func handle(_ event: SystemEvent, at now: Timestamp) -> [SystemInstruction] {
        switch event {
        case .alert(let traits): return alert(traits)
        case .background(let push): return background(push, at: now)
        case .refresh: return refresh(at: now)
        case .badge(let badge): return settings.permission == .granted && isInstalled ? [.setBadge(badge)] : []
        case .notice(let traits): return notice(traits)
        case .openApp: return open()
        case .goHome:
            guard !lock.isLocked else { return [] }
            process.goHome()
            return [.suspendLater]
        case .lock: return lockDisplay()
        case .unlock: return unlockDisplay()
        case .touch(let touch): return touched(touch)
        case .taskEnded:
            process.finishTask()
            return [.suspendLater]
        case .idle:
            _ = process.suspend()
            return []
        case .settings(let settings): return change(to: settings, at: now)
        case .forceQuit, .endApp, .restart, .removeApp, .installApp, .restoreBackup: return end(event)
        case .replaced(let isInstalled):
            self.isInstalled = isInstalled
            isReplacing = false
            return []
        }
    }

    // MARK: Pushes

    /// The extension runs in every state of the app, unless nothing would be seen (Reference/IOSClient.md#2, style B).
    private func alert(_ traits: SystemEvent.AlertTraits) -> [SystemInstruction] {
        guard isInstalled else { return [.drop(.notInstalled)] }
        guard settings.permission == .granted else { return [.drop(.notificationsOff)] }
        guard settings.alerts else { return [.drop(.alertsOff)] + (traits.badge.map { [.setBadge($0)] } ?? []) }
        return (traits.isMutable ? [.runExtension] : []) + [.showNotice]
    }

    private mutating func background(_ push: IncomingPush, at now: Timestamp) -> [SystemInstruction] {
        guard isInstalled else { return [.drop(.notInstalled)] }
        switch process.state {
        case .forceQuit: return [.drop(.forceQuit)]
        case .active, .inactive:
            process.wake()
            return [.handOver(push)]
        case .background, .suspended, .notRunning:
            // Also for an app that runs behind another: only the app in front is exempt from the budget.
            if let reason = reasonToHold(at: now) {
                // The newest only (Reference/APNs.md#6-4), although they are handled side by side.
                if kept.map({ $0.order <= push.order }) ?? true { kept = push }
                return [.hold(reason)]
            }
            return wake() + [.handOver(push)]
        }
    }

    /// The app wanted to run for a moment: under the same rules as for a background push, but nothing is kept.
    private mutating func refresh(at now: Timestamp) -> [SystemInstruction] {
        guard isInstalled else { return [.drop(.notInstalled)] }
        switch process.state {
        case .forceQuit: return [.drop(.forceQuit)]
        case .active, .inactive:
            process.wake()
            return [.refreshApp]
        case .background, .suspended, .notRunning:
            if let reason = reasonToHold(at: now) { return [.hold(reason)] }
            return wake() + [.refreshApp]
        }
    }

    private mutating func reasonToHold(at now: Timestamp) -> HoldReason? {
        guard settings.backgroundRefresh else { return .backgroundRefreshOff }
        guard !settings.lowPower else { return .lowPower }
        return spend(at: now) ? nil : .overBudget
    }

    private mutating func spend(at now: Timestamp) -> Bool {
        !hasWakeBudget || budget.spend(at: now)
    }

    private mutating func wake() -> [SystemInstruction] {
        let before = process.state
        process.wake()
        switch before {
        case .suspended: return [.resumeApp]
        case .notRunning, .forceQuit: return [.startApp]
        case .background, .inactive, .active: return []
        }
    }

    private func notice(_ traits: SystemEvent.AlertTraits) -> [SystemInstruction] {
        guard isInstalled else { return [.drop(.notInstalled)] }
        guard settings.permission == .granted else { return [.drop(.notificationsOff)] }
        guard settings.alerts else { return [.drop(.alertsOff)] }
        if process.isActive, !lock.isLocked { return [.place(.asAppSays)] }
        if settings.focus, !traits.isUrgent { return [.place(.quietly)] }
        return [.place(lock.isLocked ? .lockScreen : .banner)]
    }

    // MARK: The user

    private mutating func open() -> [SystemInstruction] {
        guard isInstalled else { return [.refuse("The app is not on this phone")] }
        guard !lock.isLocked else { return [.refuse("The phone is locked")] }
        return bringToFront()
    }

    private mutating func bringToFront() -> [SystemInstruction] {
        let start: [SystemInstruction] = process.isRunning ? process.state == .suspended ? [.resumeApp] : [] : [.startApp]
        process.open()
        return [.hideBanner] + start + [.becomeActive] + handOverKept()
    }

    private mutating func lockDisplay() -> [SystemInstruction] {
        guard !lock.isLocked else { return [] }
        lock = .locked
        process.resign()
        process.enterBackground()
        return [.hideBanner, .suspendLater]
    }

    private mutating func unlockDisplay() -> [SystemInstruction] {
        guard lock.isLocked else { return [] }
        let data = unlockData()
        let isResumed = process.isInFront && process.state == .suspended
        process.unlock()
        guard process.isActive else { return data }
        return data + (isResumed ? [.resumeApp] : []) + [.becomeActive]
    }

    private mutating func unlockData() -> [SystemInstruction] {
        defer { lock = .unlocked }
        return lock == .beforeFirstUnlock ? [.unlockData] : []
    }

    /// A locked phone is unlocked by the same gesture that opens the app, and the app starts if it must.
    private mutating func touched(_ touch: SystemEvent.Touch) -> [SystemInstruction] {
        guard isInstalled else { return [.refuse("The app is not on this phone")] }
        switch touch {
        case .open:
            let data = unlockData()
            return data + bringToFront()
        case .reply, .dismiss: return wake()
        }
    }

    private mutating func change(to new: SystemSettings, at now: Timestamp) -> [SystemInstruction] {
        let old = settings
        settings = new
        if new.permission != .granted, old.permission == .granted { return [.setBadge(0)] }
        guard new.backgroundRefresh, !new.lowPower, kept != nil, process.state != .forceQuit else { return [] }
        guard process.state == .active || process.state == .inactive || spend(at: now) else { return [] }
        return wake() + handOverKept(isAwake: true)
    }

    private mutating func handOverKept(isAwake: Bool = false) -> [SystemInstruction] {
        guard let push = kept else { return [] }
        kept = nil
        if !isAwake { process.wake() }
        return [.handOver(push)]
    }

    // MARK: Ends

    private mutating func end(_ event: SystemEvent) -> [SystemInstruction] {
        let ended: [SystemInstruction] = process.isRunning ? [.endApp] : []
        switch event {
        case .forceQuit:
            guard isInstalled else { return [.refuse("The app is not on this phone")] }
            process.forceQuit()
            // Dropped with it (Reference/APNs.md#6-4).
            kept = nil
            return ended
        case .endApp:
            // What the user removed stays removed.
            if process.isRunning { process.end() }
            return ended
        case .restart:
            process.end()
            lock = .beforeFirstUnlock
            // Locked first: a push that comes while the app ends starts the next one on a locked phone.
            return [.lockData] + ended + [.hideBanner]
        default: return replace(event, ended)
        }
    }

    /// The app goes, or becomes another: nothing waits for it any more, and its token is dead (Reference/IOSClient.md#7). It is
    /// not there until all of the old one is gone: a push that started it before that would start it on what is being removed.
    private mutating func replace(_ event: SystemEvent, _ ended: [SystemInstruction]) -> [SystemInstruction] {
        guard !isReplacing else { return [.refuse("The app is being replaced")] }
        guard isInstalled || event == .installApp else { return [.refuse("The app is not on this phone")] }
        let wasInstalled = isInstalled
        process.end()
        kept = nil
        isInstalled = false
        isReplacing = true
        let end = SystemInstruction.replace(isInstalled: event != .removeApp)
        // What could not be removed with the app before.
        guard wasInstalled else { return [.removeFiles, end] }
        if event == .restoreBackup { return ended + [.clearNotices, .setBadge(0), .removeSecrets, .unregister, end] }
        settings.permission = .notDetermined
        return ended + [.clearNotices, .setBadge(0), .removeFiles, .unregister, end]
    }
}

/// The life of the app's process as the system runs it. A value without a clock: what may happen is decided here.
struct AppProcess: Hashable, Sendable {
    private(set) var state: PhoneSnapshot.ProcessState = .notRunning
    /// Whether the app is the one that an unlocked display shows.
    private(set) var isInFront = false
    /// Background pushes being handled.
    private(set) var tasks = 0

    /// Whether there is a process at all.
    var isRunning: Bool { state != .notRunning && state != .forceQuit }

    /// Whether the user looks at the app.
    var isActive: Bool { state == .active }

    mutating func open() {
        isInFront = true
        state = .active
    }

    mutating func goHome() {
        isInFront = false
        if isRunning, state != .suspended { state = .background }
    }

    /// The first step of locking: the app is still there but gets no input.
    mutating func resign() {
        if state == .active { state = .inactive }
    }

    /// The second step.
    mutating func enterBackground() {
        if state == .inactive { state = .background }
    }

    /// The display shows again what was in front.
    mutating func unlock() {
        if isInFront { state = isRunning ? .active : state }
    }

    mutating func forceQuit() {
        end()
        state = .forceQuit
    }

    /// The system ended it, or it never ran.
    mutating func end() {
        isInFront = false
        tasks = 0
        state = .notRunning
    }

    /// The system runs it without a display, for a push or a dismissal.
    mutating func wake() {
        tasks += 1
        if state == .suspended || !isRunning { state = .background }
    }

    mutating func finishTask() { tasks = max(0, tasks - 1) }

    /// Some seconds after it went to the background; `false` when it is still needed.
    mutating func suspend() -> Bool {
        guard state == .background, tasks == 0 else { return false }
        state = .suspended
        return true
    }
}

/// How often the system wakes an app for background pushes (Reference/APNs.md#6-4). A value without a clock.
private struct BackgroundBudget: Hashable, Sendable {
    /// The most in any hour; `nil` for no limit, as while debugging.
    let wakesPerHour: Int?
    private var wakes: [Timestamp] = []

    init(wakesPerHour: Int?) { self.wakesPerHour = wakesPerHour }

    /// Whether the app may be woken now; if so, it counts.
    mutating func spend(at now: Timestamp) -> Bool {
        guard let wakesPerHour else { return true }
        wakes.removeAll { now - $0 >= .seconds(3600) }
        guard wakes.count < wakesPerHour else { return false }
        wakes.append(now)
        return true
    }
}

/// How far a phone is locked.
enum PhoneLock: String, Hashable, Sendable, CaseIterable {
    case unlocked, locked
    /// Locked since it was switched on: what is protected until the first unlock cannot be read.
    case beforeFirstUnlock

    var isLocked: Bool { self != .unlocked }
}
