import RichPushModel

/// A moment as RFC 3339 writes it, in UTC and with three fraction digits: `2026-03-01T10:00:00.000Z`.
///
/// Read more widely: seconds, fraction and zone may be missing (then UTC), the zone may lack its colon, the `T` may stand in
/// quotes or be a blank (Reference/AzureNotificationHubs.md#2-8 and #5-1).
public struct WireTime: Hashable, Sendable, CustomStringConvertible {
    public let moment: Timestamp

    /// The end of time: what "does not expire" is on the wire (Reference/AzureNotificationHubs.md#0-5).
    public static let never = WireTime(Timestamp(milliseconds: 253_402_300_799_999))

    private static let earliest = Timestamp(milliseconds: -62_135_596_800_000)

    /// Creates a time; moments outside the years 1 to 9999 are clamped.
    public init(_ moment: Timestamp) {
        self.moment = min(max(moment, Self.earliest), Timestamp(milliseconds: 253_402_300_799_999))
    }

    /// Reads any of the spellings above; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        var scanner = TimeScanner(text)
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let day = scanner.digits(2), let date = CivilDate(year: year, month: month, day: day), scanner.skipDateSeparator(),
            let hour = scanner.digits(2), hour < 24, scanner.skip(":"), let minute = scanner.digits(2), minute < 60
        else { return nil }
        guard let rest = scanner.secondsAndFraction(), let zone = scanner.zone(), scanner.isAtEnd else { return nil }
        let milliseconds = rest + (hour * 60 + minute - zone) * 60_000
        self.init(Timestamp(milliseconds: Int64(date.daysSince1970) * 86_400_000 + Int64(milliseconds)))
    }

    public var description: String {
        text(hasFraction: true)
    }

    /// The moment to the second, `2026-03-01T10:00:00Z`.
    public var seconds: String { text(hasFraction: false) }

    /// Digit by digit: an answer has several of them.
    private func text(hasFraction: Bool) -> String {
        let milliseconds = moment.milliseconds
        let days = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
        let rest = Int(milliseconds - days * 86_400_000)
        let date = CivilDate(daysSince1970: Int(days))
        return String(unsafeUninitializedCapacity: 24) { bytes in
            var end = 0
            func put(_ number: Int, _ width: Int, then mark: Unicode.Scalar) {
                var left = number
                for place in (end..<end + width).reversed() {
                    bytes[place] = UInt8(ascii: "0") + UInt8(left % 10)
                    left /= 10
                }
                bytes[end + width] = UInt8(ascii: mark)
                end += width + 1
            }
            put(date.year, 4, then: "-")
            put(date.month, 2, then: "-")
            put(date.day, 2, then: "T")
            put(rest / 3_600_000, 2, then: ":")
            put(rest / 60_000 % 60, 2, then: ":")
            put(rest / 1000 % 60, 2, then: hasFraction ? "." : "Z")
            if hasFraction { put(rest % 1000, 3, then: "Z") }
            return end
        }
    }
}

/// A moment as people and old clients write it, in any of these forms and in UTC unless a zone says otherwise:
///
/// - What `WireTime` reads.
/// - W3C format, a profile of ISO 8601, also cut off behind the year, the month or the day
///   (Reference/AzureNotificationHubs.md#4-3).
/// - `03/01/2026 10:00:00`, month first, with one digit or two, with or without seconds, and perhaps with `AM` or `PM`: what .NET makes
///   of a date by itself (Reference/AzureNotificationHubs.md#2-7).
public struct LenientTime: Hashable, Sendable {
    public let moment: Timestamp
    /// Whether it may be meant for the other half of the day: it has an hour from 1 to 11, month first, without `AM` and `PM`.
    public let isHalfOfDayOpen: Bool

    /// Reads a text; `nil` if it is in none of the forms or no moment of the calendar.
    public init?(_ text: String) {
        guard text.utf8.count <= 64, text.trimmingBlanks == text else { return nil }
        if let time = WireTime(text) {
            (moment, isHalfOfDayOpen) = (time.moment, false)
            return
        }
        var scanner = TimeScanner(text)
        let isMonthFirst = text.utf8.contains(UInt8(ascii: "/"))
        guard let found = isMonthFirst ? Self.monthFirst(&scanner) : Self.date(&scanner).map({ ($0, false) }), scanner.isAtEnd
        else {
            return nil
        }
        (moment, isHalfOfDayOpen) = found
    }

    private static func date(_ scanner: inout TimeScanner) -> Timestamp? {
        guard let year = scanner.digits(4) else { return nil }
        guard scanner.skip("-") else { return moment(year, 1, 1) }
        guard let month = scanner.digits(2) else { return nil }
        guard scanner.skip("-") else { return moment(year, month, 1) }
        return scanner.digits(2).flatMap { moment(year, month, $0) }
    }

    private static func monthFirst(_ scanner: inout TimeScanner) -> (Timestamp, Bool)? {
        guard let month = oneOrTwoDigits(&scanner), scanner.skip("/"), let day = oneOrTwoDigits(&scanner), scanner.skip("/"),
            let year = scanner.digits(4)
        else { return nil }
        if scanner.isAtEnd { return moment(year, month, day).map { ($0, false) } }
        guard scanner.skip(" "), let hour = oneOrTwoDigits(&scanner), hour < 24, scanner.skip(":"),
            let minute = scanner.digits(2),
            minute < 60, let rest = scanner.secondsAndFraction()
        else { return nil }
        let time = (hour * 60 + minute) * 60_000 + rest
        guard scanner.skip(" ") else { return moment(year, month, day, time).map { ($0, (1...11).contains(hour)) } }
        guard (1...12).contains(hour) else { return nil }
        let isMorning = scanner.skip("A") || scanner.skip("a")
        guard isMorning || scanner.skip("P") || scanner.skip("p"), scanner.skip("M") || scanner.skip("m") else { return nil }
        let morning = time - (hour == 12 ? 43_200_000 : 0)
        return moment(year, month, day, isMorning ? morning : morning + 43_200_000).map { ($0, false) }
    }

    private static func oneOrTwoDigits(_ scanner: inout TimeScanner) -> Int? { scanner.digits(2) ?? scanner.digits(1) }

    private static func moment(_ year: Int, _ month: Int, _ day: Int, _ milliseconds: Int = 0) -> Timestamp? {
        CivilDate(year: year, month: month, day: day).map {
            Timestamp(milliseconds: Int64($0.daysSince1970 * 86_400_000 + milliseconds))
        }
    }
}

/// A date of HTTP in the one form that servers may send: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
public enum HTTPDate {
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The moment in a text, from 1970 on; `nil` when it is in another form. The name of the day is ignored.
    public static func moment(_ text: String) -> Timestamp? {
        guard text.utf8.count == 29, text.hasSuffix(" GMT") else { return nil }
        var scanner = TimeScanner(text.dropFirst(3))
        guard scanner.skip(","), scanner.skip(" "), let day = scanner.digits(2), scanner.skip(" "),
            let month = months.firstIndex(where: { scanner.skip(word: $0) }), scanner.skip(" "), let year = scanner.digits(4),
            year >= 1970, let date = CivilDate(year: year, month: month + 1, day: day), scanner.skip(" "),
            let hour = scanner.digits(2), hour < 24, scanner.skip(":"), let minute = scanner.digits(2), minute < 60,
            scanner.skip(":"), let second = scanner.digits(2), second <= 60
        else { return nil }
        return Timestamp(seconds: Int64(date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second))
    }

    /// The text of a moment.
    public static func text(_ moment: Timestamp) -> String {
        let time = WireTime(moment)
        let parts = time.seconds.dropLast().split { $0 == "-" || $0 == "T" }
        guard parts.count == 4, let month = Int(parts[1]) else { return time.description }
        let seconds = time.moment.seconds
        let days = Int((seconds >= 0 ? seconds : seconds - 86_399) / 86_400)
        return "\(weekdays[((days + 4) % 7 + 7) % 7]), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) GMT"
    }
}

/// How long the header `Retry-After` asks to wait (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// The most that is believed.
    public static let longest: Duration = .seconds(86_400)

    /// Reads seconds, or a date of HTTP from `now` on; `nil` for anything else, and for a date that has passed.
    public static func pause(_ text: String, at now: Timestamp) -> Duration? {
        if let seconds = Int64(text), seconds >= 0 { return min(.seconds(seconds), longest) }
        guard let date = HTTPDate.moment(text), date > now else { return nil }
        return min(date - now, longest)
    }
}

/// A day of the Gregorian calendar, years 1 to 9999.
private struct CivilDate: Hashable, Sendable {
    let year: Int
    let month: Int
    let day: Int

    /// Creates a day; `nil` when the calendar has no such day.
    init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month) else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day >= 1, day <= lengths[month - 1] else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates the day that is so many days after 1970-01-01 (the calendar in eras of 400 years that begin in March).
    init(daysSince1970: Int) {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// How many days after 1970-01-01 it is.
    var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

/// Reads the parts of a written date, byte by byte.
private struct TimeScanner {
    private let bytes: [UInt8]
    private var index = 0

    /// Begins a text, without the blanks around it.
    init(_ text: some StringProtocol) { bytes = Array(text.trimmingBlanks.utf8.prefix(64)) }

    /// Whether nothing is left.
    var isAtEnd: Bool { index == bytes.count }

    /// Exactly so many digits as a number.
    mutating func digits(_ count: Int) -> Int? {
        guard index + count <= bytes.count else { return nil }
        var number = 0
        for byte in bytes[index..<index + count] {
            guard let digit = Self.digit(byte) else { return nil }
            number = number * 10 + digit
        }
        index += count
        return number
    }

    /// One character, if it comes next.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
        index += 1
        return true
    }

    /// A word of ASCII, if it comes next.
    mutating func skip(word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }

    /// `T`, `t`, a blank, or a `T` in quotes as one client writes it (Reference/AzureNotificationHubs.md#2-8).
    mutating func skipDateSeparator() -> Bool {
        let quote: Unicode.Scalar = "'"
        if skip(quote) { return (skip("T") || skip("t")) && skip(quote) }
        return skip("T") || skip("t") || skip(" ")
    }

    /// `:59` or `:59.871` in milliseconds; 0 when there is none; `nil` when it is malformed.
    mutating func secondsAndFraction() -> Int? {
        guard skip(":") else { return 0 }
        guard let second = digits(2), second < 60, let fraction = fraction() else { return nil }
        return second * 1000 + fraction
    }

    /// `.871` or `,8710000` in milliseconds, the rest cut off; 0 when there is none; `nil` when the digits are missing.
    mutating func fraction() -> Int? {
        guard skip(".") || skip(",") else { return 0 }
        var milliseconds = 0
        var count = 0
        while index < bytes.count, let digit = Self.digit(bytes[index]) {
            if count < 3 { milliseconds = milliseconds * 10 + digit }
            count += 1
            index += 1
        }
        guard count > 0 else { return nil }
        for _ in count..<max(3, count) { milliseconds *= 10 }
        return milliseconds
    }

    /// Minutes east of UTC: nothing or `Z` is 0; `+01:00`, `-0130`, `+02`.
    mutating func zone() -> Int? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = digits(2), hours <= 18 else { return nil }
        _ = skip(":")
        guard !isAtEnd else { return sign * hours * 60 }
        guard let minutes = digits(2), minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }

    private static func digit(_ byte: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }
}
