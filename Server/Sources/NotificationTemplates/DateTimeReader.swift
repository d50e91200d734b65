import RichPushModel
import WireText

/// Reads the date-times that clients write into an expiry.
///
/// - W3C format, a profile of ISO 8601: `2026`, `2026-03`, `2026-03-01`, `2026-03-01T10:00+01:00`, with seconds and a fraction if
///   wanted; the colon of the zone may be missing, and without a zone it is UTC (Reference/AzureNotificationHubs.md#4-3).
/// - `03/01/2026 10:00:00`, month first, in UTC, also with `AM` or `PM`: what .NET makes of a date by itself
///   (Reference/AzureNotificationHubs.md#2-7).
struct DateTimeReader {
    private var scanner: TimeScanner

    /// The moment that `text` names; `nil` if it is in neither format or no moment of the calendar.
    static func timestamp(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 64, text.trimmingBlanks == text else { return nil }
        var reader = DateTimeReader(scanner: TimeScanner(text))
        let moment = text.utf8.contains(UInt8(ascii: "/")) ? reader.monthFirst() : reader.yearFirst()
        return reader.scanner.isAtEnd ? moment : nil
    }

    private mutating func yearFirst() -> Timestamp? {
        guard let year = scanner.digits(4) else { return nil }
        guard scanner.skip("-") else { return Self.moment(year, 1, 1) }
        guard let month = scanner.digits(2) else { return nil }
        guard scanner.skip("-") else { return Self.moment(year, month, 1) }
        guard let day = scanner.digits(2) else { return nil }
        if scanner.isAtEnd { return Self.moment(year, month, day) }
        guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "), let hour = scanner.digits(2),
            let time = time(ofDay: hour), let zone = scanner.zone()
        else { return nil }
        return Self.moment(year, month, day, time - zone * 60_000)
    }

    private mutating func monthFirst() -> Timestamp? {
        guard let month = oneOrTwoDigits(), scanner.skip("/"), let day = oneOrTwoDigits(), scanner.skip("/"),
            let year = scanner.digits(4)
        else { return nil }
        if scanner.isAtEnd { return Self.moment(year, month, day) }
        guard scanner.skip(" "), let hour = oneOrTwoDigits(), let time = time(ofDay: hour) else { return nil }
        guard scanner.skip(" ") else { return Self.moment(year, month, day, time) }
        guard (1...12).contains(hour) else { return nil }
        let morning = time - (hour == 12 ? 43_200_000 : 0)
        if scanner.skip(word: "AM") { return Self.moment(year, month, day, morning) }
        if scanner.skip(word: "PM") { return Self.moment(year, month, day, morning + 43_200_000) }
        return nil
    }

    private mutating func oneOrTwoDigits() -> Int? { scanner.digits(2) ?? scanner.digits(1) }

    /// A time of day, of which the hour was read, in milliseconds.
    private mutating func time(ofDay hour: Int) -> Int? {
        guard hour < 24, scanner.skip(":"), let minute = scanner.digits(2), minute < 60 else { return nil }
        let minutes = (hour * 60 + minute) * 60_000
        guard scanner.skip(":") else { return minutes }
        guard let second = scanner.digits(2), second < 60, let fraction = scanner.fraction() else { return nil }
        return minutes + second * 1000 + fraction
    }

    private static func moment(_ year: Int, _ month: Int, _ day: Int, _ milliseconds: Int = 0) -> Timestamp? {
        CivilDate(year: year, month: month, day: day).map {
            Timestamp(milliseconds: Int64($0.daysSince1970 * 86_400_000 + milliseconds))
        }
    }
}
