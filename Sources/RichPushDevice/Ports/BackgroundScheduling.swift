/// Asks the system to run the app for a moment later on, without its user.
public protocol BackgroundScheduling: Sendable {
    /// Wants `RichPushEngine.handleBackgroundRefresh` to be called, not before `pause` is over; the system decides when, and
    /// whether at all. One wish is open at a time: another takes its place.
    func scheduleRefresh(after pause: Duration) async
}
