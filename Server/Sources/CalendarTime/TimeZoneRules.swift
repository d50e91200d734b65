/// When which offset from UTC holds in one zone, as a file of the tz database says (RFC 9636).
public struct TimeZoneRules: Hashable, Sendable {
    /// From a moment on, in seconds since 1970, this offset from UTC holds, in seconds; east is positive.
    struct Change: Hashable {
        var from: Int64
        var offset: Int64
    }

    /// The offset before the first change.
    private let first: Int64
    private let changes: [Change]
    /// What holds after the last change; `nil` when nothing changes any more.
    private let footer: YearlyRules?

    /// UTC.
    public static let utc = TimeZoneRules(first: 0, changes: [], footer: nil)
    /// UTC+14, where a date begins first. No zone is further east.
    public static let easternmost = TimeZoneRules(first: 14 * 3600, changes: [], footer: nil)
    /// From the beginning of a time of day in the easternmost zone until that in the westernmost one, UTC-12, in seconds.
    public static let secondsAroundTheWorld: Int64 = 26 * 3600

    private init(first: Int64, changes: [Change], footer: YearlyRules?) {
        (self.first, self.changes, self.footer) = (first, changes, footer)
    }

    /// Reads a file in the format TZif, version 2 or later (https://www.rfc-editor.org/rfc/rfc9636#section-3). `nil` for other bytes.
    public init?(tzif bytes: [UInt8]) {
        var reader = TZifReader(bytes: bytes)
        guard let content = reader.content() else { return nil }
        self.init(first: content.first, changes: content.changes, footer: YearlyRules(content.footer))
    }

    /// What a clock in the zone shows at a moment.
    public func local(atSeconds seconds: Int64) -> LocalDateTime {
        LocalDateTime(seconds: seconds + offset(at: seconds))
    }

    /// The moment, in seconds since 1970, at which a clock in the zone shows this.
    ///
    /// A time that the clock shows twice, when it is set back, means the first. A time that it leaves out, when it is set forward, is
    /// read with the offset from before: 02:30 becomes 03:30. Where a whole date is left out, it has no moments: `nil`.
    public func seconds(of wish: LocalDateTime) -> Int64? {
        let seconds = wish.seconds
        let periods = periods(around: seconds)
        // In the order of time, so the first of two is found.
        for (index, period) in periods.enumerated() {
            let moment = seconds - period.offset
            let end = index + 1 < periods.count ? periods[index + 1].from : .max
            if (period.from..<end).contains(moment) { return moment }
        }
        for (before, after) in zip(periods, periods.dropFirst()) where after.offset > before.offset {
            let gap = after.from + before.offset..<after.from + after.offset
            guard gap.contains(seconds) else { continue }
            let isWholeDate = gap.lowerBound <= wish.date.midnight && gap.upperBound >= (wish.date + 1).midnight
            return isWholeDate ? nil : seconds - before.offset
        }
        return nil
    }

    private func offset(at seconds: Int64) -> Int64 {
        periods(around: seconds).last { $0.from <= seconds }?.offset ?? first
    }

    /// More than any two offsets differ.
    private static let margin: Int64 = 2 * 86_400

    /// The periods of one offset that touch the days around a moment, the first from the beginning of time.
    private func periods(around seconds: Int64) -> [Change] {
        let range = seconds - Self.margin...seconds + Self.margin
        var start = changes.partitioningIndex { $0.from >= range.lowerBound }
        start = max(0, start - 1)
        var periods = changes[start...].prefix { $0.from <= range.upperBound }
        if let footer, let year = LocalDateTime(seconds: seconds).yearIfKnown {
            let last = changes.last?.from ?? .min
            periods += footer.changes(in: year - 1...year + 1).filter { $0.from > last && $0.from <= range.upperBound }
        }
        let isFirst = start == 0
        return [Change(from: .min, offset: isFirst ? first : changes[start - 1].offset)] + periods
    }
}

extension LocalDate {
    /// Midnight in seconds, as a `LocalDateTime` counts them.
    fileprivate var midnight: Int64 { Int64(dayNumber) * 86_400 }
}

extension LocalDateTime {
    /// The year, if dates can be made of it and its neighbours.
    fileprivate var yearIfKnown: Int? {
        let year = date.parts.year
        return (2...9998).contains(year) ? year : nil
    }
}

extension Array {
    /// The index of the first element for which `isAfter` holds, which has to hold for all that follow it.
    fileprivate func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// Reads the parts of a file in the format TZif.
private struct TZifReader {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The second block of data, whose numbers have 64 bits, and the footer. `nil` unless the file is whole.
    mutating func content() -> (first: Int64, changes: [TimeZoneRules.Change], footer: Substring)? {
        guard let old = header() else { return nil }
        position += old.length(ofTime: 4)
        guard let counts = header() else { return nil }
        let times = numbers(counts.times, size: 8)
        let types = take(counts.times)
        let kinds = (0..<counts.types).map { _ in (offset: numbers(1, size: 4), rest: take(2)) }
        // Names, leap seconds and indicators say nothing about offsets.
        _ = take(counts.names + counts.leaps * 12 + counts.standards + counts.universals)
        guard take(1) == [0x0A], let end = bytes[min(position, bytes.count)...].firstIndex(of: 0x0A) else { return nil }
        let offsets = kinds.compactMap(\.offset.first)
        guard offsets.count == counts.types, let first = offsets.first, times.count == counts.times,
            types.allSatisfy({ Int($0) < offsets.count }), zip(times, times.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        let changes = zip(times, types).map { TimeZoneRules.Change(from: $0, offset: offsets[Int($1)]) }
        return (first, changes, Substring(decoding: bytes[position..<end], as: UTF8.self))
    }

    private struct Header {
        var universals, standards, leaps, times, types, names: Int

        func length(ofTime size: Int) -> Int {
            times * (size + 1) + types * 6 + names + leaps * (size + 4) + standards + universals
        }
    }

    private mutating func header() -> Header? {
        guard take(4) == Array("TZif".utf8), let version = take(1).first, version >= UInt8(ascii: "2") else { return nil }
        _ = take(15)
        let counts = numbers(6, size: 4).map { Int($0) }
        // A file of the tz database has some kilobytes.
        guard counts.count == 6, counts.allSatisfy({ (0...100_000).contains($0) }) else { return nil }
        return Header(
            universals: counts[0], standards: counts[1], leaps: counts[2], times: counts[3], types: counts[4], names: counts[5])
    }

    /// Signed numbers of so many bytes each; fewer when the file ends.
    private mutating func numbers(_ count: Int, size: Int) -> [Int64] {
        let part = take(count * size)
        return stride(from: 0, to: part.count - part.count % size, by: size).map { start in
            let number = part[(start..<start + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return size == 8 ? Int64(bitPattern: number) : Int64(Int32(truncatingIfNeeded: number))
        }
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        let start = min(position, bytes.count)
        position = start + count
        return Array(bytes[start..<min(position, bytes.count)])
    }
}
