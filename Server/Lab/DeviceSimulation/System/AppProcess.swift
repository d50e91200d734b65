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
