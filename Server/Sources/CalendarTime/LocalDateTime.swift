/// A date of the Gregorian calendar, in no time zone.
public struct LocalDate: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Days since 1970-01-01; negative before.
    public let dayNumber: Int

    /// Creates a date from the days since 1970-01-01.
    public init(dayNumber: Int) { self.dayNumber = dayNumber }

    /// Creates a date; `nil` when there is no such day, or outside the years 1 to 9999.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...Self.length(ofMonth: month, in: year)).contains(day)
        else { return nil }
        self.init(year, month, day)
    }

    /// Reads `2026-12-24`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], let year = Digits.number(parts[0]), let month = Digits.number(parts[1]),
            let day = Digits.number(parts[2])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The parts of the date. Years are counted from March, so that the leap day is the last of its year.
    public var parts: (year: Int, month: Int, day: Int) {
        let shifted = dayNumber + Self.daysToEpoch
        let era = shifted.flooredQuotient(by: Self.daysOfEra)
        let dayOfEra = shifted - era * Self.daysOfEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }

    /// The day of the week.
    public var weekday: Weekday { Weekday.allCases[(dayNumber + 3).flooredRemainder(by: 7)] }

    public var description: String {
        let (year, month, day) = parts
        return "\(Digits.text(year, 4))-\(Digits.text(month, 2))-\(Digits.text(day, 2))"
    }

    public static func < (left: LocalDate, right: LocalDate) -> Bool { left.dayNumber < right.dayNumber }
    public static func + (date: LocalDate, days: Int) -> LocalDate { LocalDate(dayNumber: date.dayNumber + days) }

    /// How many days a month has.
    static func length(ofMonth month: Int, in year: Int) -> Int {
        guard month == 2 else { return [4, 6, 9, 11].contains(month) ? 30 : 31 }
        return year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    }

    private static let daysOfEra = 146_097
    /// From 0000-03-01 to 1970-01-01.
    private static let daysToEpoch = 719_468

    private init(_ year: Int, _ month: Int, _ day: Int) {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredQuotient(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        dayNumber = era * Self.daysOfEra + dayOfEra - Self.daysToEpoch
    }
}

/// A day of the week; the raw value is its name in RFC 5545.
public enum Weekday: String, Sendable, CaseIterable {
    case monday = "MO"
    case tuesday = "TU"
    case wednesday = "WE"
    case thursday = "TH"
    case friday = "FR"
    case saturday = "SA"
    case sunday = "SU"

    /// 0 for Monday to 6 for Sunday.
    var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// What a clock on the wall shows, to the second, in no time zone.
public struct LocalDateTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The date.
    public var date: LocalDate
    /// Seconds since midnight: 0 to 86,399.
    public var secondOfDay: Int

    /// Creates a value; `secondOfDay` is 0 to 86,399.
    public init(date: LocalDate, secondOfDay: Int) {
        self.date = date
        self.secondOfDay = secondOfDay
    }

    /// Reads `2026-12-24T18:00` or `2026-12-24T18:00:30`.
    public init?(_ text: String) {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false)
        guard parts.count == 2, let date = LocalDate(parts[0]) else { return nil }
        let clock = parts[1].split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(clock.count), clock.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
        let numbers = clock.compactMap { Digits.number($0) }
        guard numbers.count == clock.count, numbers[0] < 24, numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
        self.init(date: date, secondOfDay: numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0))
    }

    public var description: String {
        let clock = [secondOfDay / 3600, secondOfDay / 60 % 60] + (secondOfDay % 60 == 0 ? [] : [secondOfDay % 60])
        return "\(date)T\(clock.map { Digits.text($0, 2) }.joined(separator: ":"))"
    }

    public static func < (left: LocalDateTime, right: LocalDateTime) -> Bool {
        (left.date, left.secondOfDay) < (right.date, right.secondOfDay)
    }

    /// Seconds since 1970, as if the clock showed UTC.
    var seconds: Int64 { Int64(date.dayNumber) * 86_400 + Int64(secondOfDay) }

    init(seconds: Int64) {
        let day = seconds.flooredQuotient(by: 86_400)
        self.init(date: LocalDate(dayNumber: Int(day)), secondOfDay: Int(seconds - day * 86_400))
    }
}

extension BinaryInteger {
    /// The quotient, rounded down.
    func flooredQuotient(by divisor: Self) -> Self { (self - flooredRemainder(by: divisor)) / divisor }

    /// The remainder, from zero on.
    func flooredRemainder(by divisor: Self) -> Self { (self % divisor + divisor) % divisor }
}

/// Decimal numbers of ASCII digits.
enum Digits {
    /// Reads one to six digits without a sign.
    static func number(_ text: some StringProtocol) -> Int? {
        guard (1...6).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// A number with at least so many digits.
    static func text(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
