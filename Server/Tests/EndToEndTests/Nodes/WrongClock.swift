import RichPushModel

/// The clock of a machine that is wrong.
struct WrongClock: ServiceClock {
    let ahead: Duration

    var now: Timestamp { SystemClock().now + ahead }
    var uptime: Duration { SystemClock().uptime }
    func sleep(for duration: Duration) async throws { try await SystemClock().sleep(for: duration) }
}
