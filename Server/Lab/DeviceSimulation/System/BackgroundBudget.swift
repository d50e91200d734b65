import RichPushModel

/// How often the system wakes an app for background pushes (Reference/APNs.md#6-4). A value without a clock.
struct BackgroundBudget: Hashable, Sendable {
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
