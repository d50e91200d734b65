/// On which dates something recurs: a subset of the recurrence rules of RFC 5545 (https://www.rfc-editor.org/rfc/rfc5545#section-3.3.10),
/// whose other parts are refused by name.
///
/// - `FREQ` is `DAILY`, `WEEKLY`, `MONTHLY` or `YEARLY`, with `INTERVAL` (1 to 1,000).
/// - `BYMONTH`, `BYMONTHDAY` (also from the end, `-1`) and `BYDAY`, with ordinals (`1MO`, `-1FR`) where months are counted.
/// - `COUNT` or `UNTIL`, the last date as `YYYYMMDD`; and `WKST`.
///
/// Dates that do not exist, as the 31st of a short month, are left out. The first date counts only if it matches the rule.
public struct RecurrenceRule: Hashable, Sendable {
    /// How the periods are counted; the raw value is the name in a rule.
    enum Frequency: String {
        case daily = "DAILY"
        case weekly = "WEEKLY"
        case monthly = "MONTHLY"
        case yearly = "YEARLY"
    }

    /// A day of the week, or one of them in a month: the first for 1, the last for -1.
    struct Day: Hashable {
        var weekday: Weekday
        var ordinal: Int?
    }

    private(set) var frequency = Frequency.daily
    private(set) var interval = 1
    private(set) var count: Int?
    private(set) var until: LocalDate?
    private(set) var days: [Day] = []
    private(set) var monthDays: [Int] = []
    private(set) var months: [Int] = []
    private(set) var weekStart = Weekday.monday

    /// What is wrong with a rule: a sentence that names the part.
    public struct Mistake: Error, Hashable, CustomStringConvertible {
        public let description: String
    }

    /// Reads a rule such as `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR`, at most 200 bytes.
    public init(parsing text: String) throws(Mistake) {
        guard text.utf8.count <= 200 else { throw Mistake(description: "the rule has more than 200 bytes") }
        var seen: Set<Substring> = []
        for part in text.split(separator: ";", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, !pair[1].isEmpty else {
                throw Mistake(description: "a rule is a list of NAME=VALUE with ';' between")
            }
            guard seen.insert(pair[0]).inserted else { throw Mistake(description: "\(Self.shown(pair[0])) is given twice") }
            try read(pair[0], pair[1])
        }
        guard seen.contains("FREQ") else { throw Mistake(description: "FREQ is missing") }
        try checkParts()
    }

    private mutating func read(_ name: Substring, _ value: Substring) throws(Mistake) {
        switch name {
        case "FREQ": frequency = try Self.known(Frequency(rawValue: String(value)), "FREQ", "DAILY, WEEKLY, MONTHLY or YEARLY")
        case "INTERVAL": interval = try Self.number(value, name, 1...1000)
        case "COUNT": count = try Self.number(value, name, 1...10_000)
        case "UNTIL": until = try Self.known(Self.date(value), "UNTIL", "a date as YYYYMMDD, which is the last in local time")
        case "BYMONTH": months = try Self.list(value) { value throws(Mistake) in try Self.number(value, name, 1...12) }
        case "BYMONTHDAY": monthDays = try Self.list(value) { value throws(Mistake) in try Self.signed(value, name, 31) }
        case "BYDAY": days = try Self.list(value, Self.day)
        case "WKST": weekStart = try Self.known(Weekday(rawValue: String(value)), "WKST", "a day of the week, such as MO")
        default: throw Mistake(description: "\(Self.shown(name)) is not among the parts of a rule that are known here")
        }
    }

    private func checkParts() throws(Mistake) {
        guard count == nil || until == nil else { throw Mistake(description: "COUNT and UNTIL exclude each other") }
        if frequency == .weekly, !monthDays.isEmpty { throw Mistake(description: "BYMONTHDAY does not go with FREQ=WEEKLY") }
        if frequency == .yearly, !days.isEmpty, months.isEmpty {
            throw Mistake(description: "BYDAY goes with FREQ=YEARLY only beside BYMONTH")
        }
        if frequency == .daily || frequency == .weekly, days.contains(where: { $0.ordinal != nil }) {
            throw Mistake(description: "BYDAY has ordinals only with FREQ=MONTHLY or YEARLY")
        }
    }

    private static func list<Value: Hashable>(
        _ text: Substring, _ read: (Substring) throws(Mistake) -> Value
    ) throws(Mistake) -> [Value] {
        var values: [Value] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let value = try read(part)
            if !values.contains(value) { values.append(value) }
        }
        return values
    }

    private static func day(_ text: Substring) throws(Mistake) -> Day {
        let weekday = try known(Weekday(rawValue: String(text.suffix(2))), "BYDAY", "days such as MO, 1MO or -1FR")
        let ordinal = text.dropLast(2)
        return Day(weekday: weekday, ordinal: ordinal.isEmpty ? nil : try signed(ordinal, "BYDAY", 5))
    }

    private static func number(_ text: Substring, _ name: Substring, _ range: ClosedRange<Int>) throws(Mistake) -> Int {
        guard let number = Digits.number(text), range.contains(number) else {
            throw Mistake(description: "\(name) is not from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func signed(_ text: Substring, _ name: Substring, _ limit: Int) throws(Mistake) -> Int {
        let isNegative = text.first == "-"
        let number = try number(isNegative || text.first == "+" ? text.dropFirst() : text, name, 1...limit)
        return isNegative ? -number : number
    }

    private static func known<Value>(_ value: Value?, _ name: String, _ expected: String) throws(Mistake) -> Value {
        guard let value else { throw Mistake(description: "\(name) is not \(expected)") }
        return value
    }

    private static func date(_ text: Substring) -> LocalDate? {
        guard text.utf8.count == 8, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return LocalDate("\(text.prefix(4))-\(text.dropFirst(4).prefix(2))-\(text.suffix(2))")
    }

    /// The name of a part as an error shows it.
    private static func shown(_ name: Substring) -> String {
        let isName = (1...20).contains(name.utf8.count) && name.utf8.allSatisfy { $0 == 0x2D || (0x41...0x5A).contains($0) }
        return isName ? String(name) : "a part"
    }
}

extension RecurrenceRule {
    /// The dates from `start` on, in order. A rule without an end goes on until the year 2200.
    public func dates(from start: LocalDate) -> some Sequence<LocalDate> {
        let last = min(until ?? Self.end, Self.end)
        let dates = (0...).lazy
            .prefix { firstDay(ofPeriod: $0, from: start) <= last }
            .flatMap { candidates(ofPeriod: $0, from: start) }
            .filter { $0 >= start && $0 <= last }
        return dates.prefix(count ?? .max)
    }

    private static let end = LocalDate(dayNumber: 84_005)

    /// The first day of a period, counted from the period of `start`.
    private func firstDay(ofPeriod number: Int, from start: LocalDate) -> LocalDate {
        switch frequency {
        case .daily: return start + number * interval
        case .weekly:
            let back = (start.weekday.number - weekStart.number).flooredRemainder(by: 7)
            return start + (7 * number * interval - back)
        case .monthly, .yearly:
            let (year, month) = month(ofPeriod: number, from: start)
            return LocalDate(year: year, month: month, day: 1) ?? Self.end + 1
        }
    }

    private func month(ofPeriod number: Int, from start: LocalDate) -> (year: Int, month: Int) {
        let (year, month, _) = start.parts
        guard frequency == .monthly else { return (year + number * interval, 1) }
        let months = year * 12 + month - 1 + number * interval
        return (months / 12, months % 12 + 1)
    }

    /// The dates of a period that match, in order. In the first one some may be before `start`.
    private func candidates(ofPeriod number: Int, from start: LocalDate) -> [LocalDate] {
        switch frequency {
        case .daily: return [firstDay(ofPeriod: number, from: start)].filter(matches)
        case .weekly:
            let first = firstDay(ofPeriod: number, from: start)
            let weekdays = days.isEmpty ? [start.weekday] : days.map(\.weekday)
            return (0..<7).map { first + $0 }.filter { weekdays.contains($0.weekday) && isInMonths($0) }
        case .monthly:
            let (year, month) = month(ofPeriod: number, from: start)
            return months.isEmpty || months.contains(month) ? dates(of: month, in: year, start) : []
        case .yearly:
            let year = month(ofPeriod: number, from: start).year
            let own = monthDays.isEmpty ? [start.parts.month] : Array(1...12)
            return (months.isEmpty ? own : months.sorted()).flatMap { dates(of: $0, in: year, start) }
        }
    }

    private func isInMonths(_ date: LocalDate) -> Bool { months.isEmpty || months.contains(date.parts.month) }

    /// Whether a date fits a daily rule.
    private func matches(_ date: LocalDate) -> Bool {
        let (year, month, day) = date.parts
        return isInMonths(date) && (days.isEmpty || days.contains { $0.weekday == date.weekday })
            && (monthDays.isEmpty || contains(day, of: LocalDate.length(ofMonth: month, in: year)))
    }

    private func contains(_ day: Int, of length: Int) -> Bool {
        monthDays.contains(day) || monthDays.contains(day - length - 1)
    }

    private func dates(of month: Int, in year: Int, _ start: LocalDate) -> [LocalDate] {
        guard let first = LocalDate(year: year, month: month, day: 1) else { return [] }
        let length = LocalDate.length(ofMonth: month, in: year)
        let isPlain = monthDays.isEmpty && days.isEmpty
        return (1...length).filter { day in
            if isPlain { return day == start.parts.day }
            let weekday = (first + (day - 1)).weekday
            return (monthDays.isEmpty || contains(day, of: length))
                && (days.isEmpty || days.contains { $0.weekday == weekday && $0.isOrdinal(of: day, in: length) })
        }.map { first + ($0 - 1) }
    }
}

extension RecurrenceRule.Day {
    /// Whether a day with this weekday is the one of the month that is meant.
    fileprivate func isOrdinal(of day: Int, in length: Int) -> Bool {
        guard let ordinal else { return true }
        return ordinal > 0 ? (day - 1) / 7 + 1 == ordinal : (length - day) / 7 + 1 == -ordinal
    }
}
