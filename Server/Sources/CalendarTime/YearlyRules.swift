/// What holds after the last change that a file of the tz database lists: its footer, which is a `TZ` text of POSIX
/// (https://www.rfc-editor.org/rfc/rfc9636#section-3.3).
struct YearlyRules: Hashable {
    /// A moment of each year in local time: a day and the seconds after its midnight, which may lie on other days.
    struct Moment: Hashable {
        enum Day: Hashable {
            /// The n-th weekday of a month, the last for 5. Weekdays count from Sunday.
            case weekday(month: Int, week: Int, weekday: Int)
            /// Counted from 1 without leap days.
            case julian(Int)
            /// Counted from 0 with leap days.
            case ofYear(Int)
        }

        var day: Day
        var seconds: Int
    }

    /// The other offset of a year, and when it begins and ends.
    private struct Summer: Hashable {
        var offset: Int64
        var start: Moment
        var end: Moment
    }

    private let standard: Int64
    private let summer: Summer?

    /// Reads a footer; `nil` when it is empty or cannot be read.
    init?(_ text: Substring) {
        var rest = text
        guard Self.skipName(&rest), let offset = Self.clock(&rest) else { return nil }
        standard = -Int64(offset)
        guard !rest.isEmpty else {
            summer = nil
            return
        }
        guard Self.skipName(&rest) else { return nil }
        var summerOffset = standard + 3600
        if rest.first != "," {
            guard let offset = Self.clock(&rest) else { return nil }
            summerOffset = -Int64(offset)
        }
        let moments = rest.split(separator: ",", omittingEmptySubsequences: false)
        guard moments.count == 3, moments[0].isEmpty, let start = Moment(moments[1]), let end = Moment(moments[2])
        else { return nil }
        summer = Summer(offset: summerOffset, start: start, end: end)
    }

    /// All changes of these years, in the order of time.
    func changes(in years: ClosedRange<Int>) -> [TimeZoneRules.Change] {
        guard let summer else { return [] }
        let changes = years.flatMap { year in
            [
                TimeZoneRules.Change(from: summer.end.seconds(in: year) - summer.offset, offset: standard),
                TimeZoneRules.Change(from: summer.start.seconds(in: year) - standard, offset: summer.offset),
            ]
        }
        return changes.sorted { $0.from < $1.from }
    }

    /// Skips the name of an offset, in letters or between `<` and `>`.
    private static func skipName(_ rest: inout Substring) -> Bool {
        let before = rest.count
        if rest.first == "<" {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...]
        } else {
            rest = rest.drop { $0.isASCII && $0.isLetter }
        }
        return rest.count < before
    }

    /// Reads hours, and minutes and seconds if they are there, as seconds.
    fileprivate static func clock(_ rest: inout Substring) -> Int? {
        let isNegative = rest.first == "-"
        if isNegative || rest.first == "+" { rest = rest.dropFirst() }
        let text = rest.prefix { $0 == ":" || $0.isASCII && $0.isNumber }
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false).map { Digits.number($0) }
        guard (1...3).contains(numbers.count), !numbers.contains(nil) else { return nil }
        rest = rest.dropFirst(text.count)
        let seconds = zip(numbers, [3600, 60, 1]).reduce(0) { $0 + ($1.0 ?? 0) * $1.1 }
        return isNegative ? -seconds : seconds
    }
}

extension YearlyRules.Moment {
    /// Reads a moment such as `M3.5.0/2`.
    fileprivate init?(_ text: Substring) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count) else { return nil }
        var clock = parts.count == 2 ? parts[1] : "2"
        guard let seconds = YearlyRules.clock(&clock), clock.isEmpty, let day = Self.day(parts[0]) else { return nil }
        self.init(day: day, seconds: seconds)
    }

    private static func day(_ text: Substring) -> Day? {
        if text.first == "J" { return Digits.number(text.dropFirst()).flatMap { (1...365).contains($0) ? .julian($0) : nil } }
        guard text.first == "M" else { return Digits.number(text).flatMap { (0...365).contains($0) ? .ofYear($0) : nil } }
        let numbers = text.dropFirst().split(separator: ".").compactMap { Digits.number($0) }
        guard numbers.count == 3, (1...12).contains(numbers[0]), (1...5).contains(numbers[1]), (0...6).contains(numbers[2])
        else { return nil }
        return .weekday(month: numbers[0], week: numbers[1], weekday: numbers[2])
    }

    /// The local time in seconds, as a `LocalDateTime` counts them. `year` is from 1 to 9999.
    fileprivate func seconds(in year: Int) -> Int64 {
        Int64(dayNumber(in: year)) * 86_400 + Int64(seconds)
    }

    private func dayNumber(in year: Int) -> Int {
        func first(_ month: Int) -> LocalDate { LocalDate(year: year, month: month, day: 1) ?? LocalDate(dayNumber: 0) }
        switch day {
        case .julian(let number):
            let isAfterLeapDay = LocalDate.length(ofMonth: 2, in: year) == 29 && number > 59
            return first(1).dayNumber + number - 1 + (isAfterLeapDay ? 1 : 0)
        case .ofYear(let number): return first(1).dayNumber + number
        case .weekday(let month, let week, let weekday):
            // From Monday, as `Weekday` counts.
            let ahead = (weekday + 6 - first(month).weekday.number).flooredRemainder(by: 7)
            let length = LocalDate.length(ofMonth: month, in: year)
            let days = ahead + 7 * (week - 1)
            return first(month).dayNumber + (days < length ? days : days - 7)
        }
    }
}
