import CalendarTime
import PushHub

/// The clock that decides when a device gets a push: its time zone, and the quiet hours of its user.
///
/// The hub keeps it as the name of a zone, so a send finds the devices of each clock as it finds those of each zone.
struct DeviceClock: Hashable, Sendable {
    /// By its name in the tz database; empty while it is not known.
    var zone: String
    /// The user's own hours.
    var quiet: QuietHours?

    init(zone: String, quiet: QuietHours?) {
        self.zone = zone
        self.quiet = quiet
    }

    /// Reads the name that the hub keeps.
    init(_ name: String) {
        let parts = name.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        zone = parts.first.map(String.init) ?? ""
        quiet = parts.count == 2 ? QuietHours(parts[1]) : nil
    }

    /// The name that the hub keeps, such as `Europe/Berlin=22:00-07:00`.
    var name: String { quiet.map { "\(zone)=\($0)" } ?? zone }
}
