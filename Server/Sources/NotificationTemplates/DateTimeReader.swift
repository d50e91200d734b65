import RichPushModel

/// Reads the date-times that clients write into an expiry.
///
/// - W3C format, a profile of ISO 8601: `2026`, `2026-03`, `2026-03-01`, `2026-03-01T10:00+01:00`, with seconds and a fraction if
///   wanted; the colon of the zone may be missing, and without a zone it is UTC (Reference/AzureNotificationHubs.md#4-3).
/// - `03/01/2026 10:00:00`, month first, in UTC, also with `AM` or `PM`: what .NET makes of a date by itself
///   (Reference/AzureNotificationHubs.md#2-7).
struct DateTimeReader {
    private let bytes: [UInt8]
    private var position = 0

    /// The moment that `text` names; `nil` if it is in neither format or no moment of the calendar.
    static func timestamp(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 64 else { return nil }
        var reader = DateTimeReader(bytes: Array(text.utf8))
        let isMonthFirst = reader.bytes.contains(UInt8(ascii: "/"))
        guard let moment = isMonthFirst ? reader.monthFirst() : reader.yearFirst(), reader.isAtEnd else { return nil }
        return moment
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func yearFirst() -> Timestamp? {
        guard let year = number(4...4) else { return nil }
        guard take("-") else { return Self.moment(year, 1, 1) }
        guard let month = number(2...2) else { return nil }
        guard take("-") else { return Self.moment(year, month, 1) }
        guard let day = number(2...2) else { return nil }
        if isAtEnd { return Self.moment(year, month, day) }
        guard take("T") || take("t") || take(" "), let time = time(hour: 2...2), let zone = zone() else { return nil }
        return Self.moment(year, month, day, time - zone)
    }

    private mutating func monthFirst() -> Timestamp? {
        guard let month = number(1...2), take("/"), let day = number(1...2), take("/"), let year = number(4...4) else {
            return nil
        }
        if isAtEnd { return Self.moment(year, month, day) }
        guard take(" "), let time = time(hour: 1...2) else { return nil }
        guard take(" ") else { return Self.moment(year, month, day, time) }
        let hours = time / 3_600_000
        guard (1...12).contains(hours) else { return nil }
        let morning = time - (hours == 12 ? 43_200_000 : 0)
        if take("A"), take("M") { return Self.moment(year, month, day, morning) }
        if take("P"), take("M") { return Self.moment(year, month, day, morning + 43_200_000) }
        return nil
    }

    /// A time of day in milliseconds.
    private mutating func time(hour digits: ClosedRange<Int>) -> Int64? {
        guard let hour = number(digits), hour < 24, take(":"), let minute = number(2...2), minute < 60 else { return nil }
        var milliseconds = (hour * 60 + minute) * 60_000
        guard take(":") else { return milliseconds }
        guard let second = number(2...2), second < 60 else { return nil }
        milliseconds += second * 1000
        guard take(".") else { return milliseconds }
        let start = position
        while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { return nil }
        let digits = (bytes[start..<position].map { Int64($0 - 0x30) } + [0, 0]).prefix(3)
        return milliseconds + digits.reduce(0) { $0 * 10 + $1 }
    }

    /// The distance to UTC in milliseconds.
    private mutating func zone() -> Int64? {
        if isAtEnd || take("Z") || take("z") { return 0 }
        let isWest = peek == UInt8(ascii: "-")
        guard take("+") || take("-"), let hour = number(2...2), hour < 24 else { return nil }
        _ = take(":")
        guard let minute = number(2...2), minute < 60 else { return nil }
        let distance = (hour * 60 + minute) * 60_000
        return isWest ? -distance : distance
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }
    private var isAtEnd: Bool { position == bytes.count }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func number(_ digits: ClosedRange<Int>) -> Int64? {
        let run = bytes[position...].prefix(digits.upperBound).prefix { (0x30...0x39).contains($0) }
        guard run.count >= digits.lowerBound else { return nil }
        position += run.count
        return run.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static func moment(_ year: Int64, _ month: Int64, _ day: Int64, _ milliseconds: Int64 = 0) -> Timestamp? {
        guard (1...12).contains(month), day >= 1, day <= lastDay(of: month, in: year) else { return nil }
        // Years are counted from March, so that the leap day is the last of its year; 719,468 days lie before 1970.
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let era = shifted >= 0 ? shifted / 400 : -1
        let yearOfEra = shifted - era * 400
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return Timestamp(milliseconds: days * 86_400_000 + milliseconds)
    }

    private static func lastDay(of month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
