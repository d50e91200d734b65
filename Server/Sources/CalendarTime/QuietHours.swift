/// Hours of the day in which people are left alone, by the clock where they are: from a time of day until another one, perhaps over
/// midnight.
public struct QuietHours: Hashable, Sendable, Codable, CustomStringConvertible {
    /// Seconds after midnight.
    public let from: Int
    /// Seconds after midnight, not included. Before `from` it is on the next day.
    public let to: Int

    /// Reads `22:00-08:00`; `nil` for anything else, and for hours that end where they begin.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { part in
            LocalDateTime("2026-01-01T\(part)").flatMap { part.utf8.count == 5 ? $0.secondOfDay : nil }
        }
        guard parts.count == 2, let from = parts[0], let to = parts[1], from != to else { return nil }
        (self.from, self.to) = (from, to)
    }

    public var description: String { "\(Self.text(from))-\(Self.text(to))" }

    private static func text(_ second: Int) -> String {
        String(LocalDateTime(date: LocalDate(dayNumber: 0), secondOfDay: second).description.suffix(5))
    }

    /// Whether a time of day, in seconds after midnight, is among them.
    public func contains(secondOfDay second: Int) -> Bool {
        from < to ? (from..<to).contains(second) : second >= from || second < to
    }

    /// The first moment that is not quiet where it is quiet at a moment; `nil` where it is not. In seconds since 1970.
    ///
    /// When the clocks change meanwhile, it is the moment at which they show such a time, perhaps by the change itself.
    public func end(atSeconds start: Int64, in zone: TimeZoneRules) -> Int64? {
        guard contains(secondOfDay: zone.local(atSeconds: start).secondOfDay) else { return nil }
        var moment = start
        // Each round ends at a change of the clocks, or is the last.
        while contains(secondOfDay: zone.local(atSeconds: moment).secondOfDay) {
            let left = (to - zone.local(atSeconds: moment).secondOfDay + Self.day) % Self.day
            moment = zone.change(after: moment, until: moment + Int64(left))
        }
        return moment
    }

    private static let day = 86_400
}

extension TimeZoneRules {
    /// The first moment after `start` at which another offset holds, or `end` where there is none before.
    fileprivate func change(after start: Int64, until end: Int64) -> Int64 {
        func shift(_ moment: Int64) -> Int64 { local(atSeconds: moment).seconds - moment }
        let offset = shift(start)
        guard shift(end) != offset else { return end }
        var (before, after) = (start, end)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if shift(middle) == offset { before = middle } else { after = middle }
        }
        return after
    }
}
