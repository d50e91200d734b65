import RichPushModel

/// When a send by local time is due in each time zone: where the clocks show the same time of day.
public struct ZoneMoments: Hashable, Sendable {
    /// What was asked for. It stands for the moments in the digest of a send, since a retry may know of more zones.
    public var wish: String
    /// By the name of the zone, as devices report it.
    public var moments: [String: Timestamp]
    /// For devices in any other zone, and for those whose zone is not known. Absent means that there are none now: those that come are
    /// due with the last.
    public var otherwise: Timestamp?
    /// A device whose moment lies before this gets nothing and counts as expired: its moment had passed when the send was asked for.
    public var notBefore: Timestamp
    /// How long after its moment a push is worth sending; absent means as long as any other.
    public var lifetime: Duration?

    /// Creates the moments of a send.
    public init(
        wish: String, moments: [String: Timestamp], otherwise: Timestamp?, notBefore: Timestamp, lifetime: Duration? = nil
    ) {
        self.wish = wish
        self.moments = moments
        self.otherwise = otherwise
        self.notBefore = notBefore
        self.lifetime = lifetime
    }

    /// The most zones of a send. The tz database has fewer; a caller may tell several clocks of one zone apart.
    public static let limit = 10_000

    /// The name under which storage keeps `otherwise`. No zone has it, and a device without a zone does.
    public static let otherZones = ""

    /// The zones by their moment, in the order of time. `otherZones` is among them.
    var waves: [(moment: Timestamp, zones: [String])] {
        var all = moments
        all[Self.otherZones] = otherwise ?? moments.values.max()
        return Dictionary(grouping: all, by: \.value)
            .map { (moment: $0.key, zones: $0.value.map(\.key).sorted()) }.sorted { $0.moment < $1.moment }
    }

    /// The same, where of many zones with one moment each next `size` are due a millisecond later. So their devices are found by few
    /// entries of the index. What is due at once, and `otherZones`, stay together: they are read with the whole audience.
    func staggered(by size: Int) -> ZoneMoments {
        var result = self
        for (moment, zones) in waves where moment > notBefore && zones.count > size && !zones.contains(Self.otherZones) {
            for (place, zone) in zones.enumerated() { result.moments[zone] = moment + .milliseconds(place / size) }
        }
        return result
    }

    /// The earliest moment that has not passed; `notBefore` where all have.
    var first: Timestamp { waves.first { $0.moment >= notBefore }?.moment ?? notBefore }

    /// Whether it is due now in all zones, as a send in no quiet hours is.
    var isDueEverywhere: Bool {
        let waves = waves
        return waves.count == 1 && waves[0].moment == notBefore && lifetime == nil
    }

    /// Until when the pushes that are due at the moment are worth sending.
    func expiry(of moment: Timestamp) -> Timestamp? { moment < notBefore ? moment : lifetime.map { moment + $0 } }
}

/// How far a send by local time has come at one of its moments.
public struct WaveProgress: Hashable, Sendable {
    public var moment: Timestamp
    /// In alphabetical order; `ZoneMoments.otherZones` among them stands for all zones that no wave has.
    public var zones: [String]
    /// Whether everything that is due at the moment is settled.
    public var isOver: Bool

    /// Describes a wave.
    public init(moment: Timestamp, zones: [String], isOver: Bool) {
        self.moment = moment
        self.zones = zones
        self.isOver = isOver
    }
}

/// The time zone of a device, and the one before.
///
/// A send by local time reaches a device once, also if the device changes its zone while the send goes on: if the moment of either zone
/// had come by then, the former zone counts, else the new one. That needs at most one change within the 26 hours that such a send takes.
/// So a zone that is reported sooner is kept as `next` and holds later.
public struct DeviceZone: Hashable, Sendable {
    /// By its name in the tz database; empty while it is not known.
    public var name: String
    /// Absent when it never changed.
    public var former: String?
    /// When `former` ended.
    public var changedAt: Timestamp?
    /// What the device reported since, too soon after the last change.
    public var next: String?

    /// Creates a zone.
    public init(_ name: String, former: String? = nil, changedAt: Timestamp? = nil, next: String? = nil) {
        self.name = name
        self.former = former
        self.changedAt = changedAt
        self.next = next
    }

    public static let unknown = DeviceZone("")

    /// From UTC+14 to UTC-12 it takes a send 26 hours to be due everywhere. One more is for slices that are read late.
    public static let settling: Duration = .seconds(27 * 3600)

    /// The zone after a report.
    public func reported(_ report: String, at now: Timestamp) -> DeviceZone {
        var zone = self
        zone.next = nil
        if report == name { return zone }
        if let changedAt, now < changedAt + Self.settling {
            zone.next = report
            return zone
        }
        return DeviceZone(report, former: name, changedAt: now)
    }

    /// The entries of the index under which a send by local time finds the device.
    public var indexEntries: Set<String> {
        Set([name, former].compactMap(\.self).filter { !$0.isEmpty }.map(Self.indexEntry))
    }

    /// The entry of a zone. No tag of a client begins with `$`.
    public static func indexEntry(_ name: String) -> String { "\(indexPrefix)\(name)}" }

    /// How the entries of all zones begin.
    public static let indexPrefix = "$timezone:{"

    /// The zone of an entry.
    public static func name(ofIndexEntry entry: String) -> String { String(entry.dropFirst(indexPrefix.count).dropLast()) }
}
