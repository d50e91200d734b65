import RichPushModel

/// When to tell the operator that APNs refuses device tokens. One refused token is the device's business; many mean the wrong
/// environment or app, and nobody would look for that in the tallies.
///
/// Decides only; says how many there were since the last time, at most once a minute.
struct RefusalNotice {
    static let pace: Duration = .seconds(60)

    private var count = 0
    private var told: Duration?

    /// Notes refusals, and returns how many to tell of now; `nil` when nothing is to be told.
    mutating func note(_ more: Int, at uptime: Duration) -> Int? {
        count += more
        guard count > 0, told.map({ uptime - $0 >= Self.pace }) ?? true else { return nil }
        defer { (count, told) = (0, uptime) }
        return count
    }
}
