import Foundation
import Testing

@testable import CalendarTime

@Suite("Recurrence rules")
struct RecurrenceRuleTests {
    @Test("random rules have the dates that python-dateutil finds (recurrences.py)")
    func oracle() throws {
        let url = try #require(Bundle.module.url(forResource: "Recurrences", withExtension: "txt"))
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 400)
        for line in lines {
            let parts = line.split(separator: "|", omittingEmptySubsequences: false)
            let rule = try RecurrenceRule(parsing: String(parts[0]))
            let start = try #require(LocalDate(parts[1]))
            let dates = rule.dates(from: start).prefix(15).map(\.description).joined(separator: ",")
            #expect(dates == parts[2], "\(parts[0]) from \(parts[1])")
        }
    }

    @Test("days with and without an ordinal stand beside each other")
    func mixedDays() throws {
        let rule = try RecurrenceRule(parsing: "FREQ=MONTHLY;BYDAY=1MO,TU;COUNT=6")
        let start = try #require(LocalDate("2026-12-01"))
        let dates = ["2026-12-01", "2026-12-07", "2026-12-08", "2026-12-15", "2026-12-22", "2026-12-29"]
        #expect(rule.dates(from: start).map(\.description) == dates)
    }

    @Test("a monthly rule from the 31st leaves out short months")
    func shortMonths() throws {
        let rule = try RecurrenceRule(parsing: "FREQ=MONTHLY;COUNT=4")
        let start = try #require(LocalDate("2026-12-31"))
        #expect(rule.dates(from: start).map(\.description) == ["2026-12-31", "2027-01-31", "2027-03-31", "2027-05-31"])
    }

    @Test("a rule that never matches has no dates, and ends")
    func never() throws {
        let rule = try RecurrenceRule(parsing: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30")
        #expect(rule.dates(from: LocalDate(dayNumber: 20_000)).first { _ in true } == nil)
    }

    @Test(
        "a wrong rule is refused with the part that is wrong",
        arguments: [
            ("", "NAME=VALUE"), ("FREQ", "NAME=VALUE"), ("FREQ=", "NAME=VALUE"), ("INTERVAL=2", "FREQ is missing"),
            ("FREQ=HOURLY", "FREQ is not"), ("FREQ=daily", "FREQ is not"), ("FREQ=DAILY;FREQ=DAILY", "FREQ is given twice"),
            ("FREQ=DAILY;INTERVAL=0", "INTERVAL is not from 1"), ("FREQ=DAILY;COUNT=-1", "COUNT is not from 1"),
            ("FREQ=DAILY;COUNT=2;UNTIL=20270101", "COUNT and UNTIL"), ("FREQ=DAILY;UNTIL=20270230", "UNTIL is not"),
            ("FREQ=DAILY;UNTIL=20270101T000000Z", "UNTIL is not"), ("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY does not"),
            ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY is not"), ("FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY is not"),
            ("FREQ=YEARLY;BYDAY=MO", "only beside BYMONTH"), ("FREQ=WEEKLY;BYDAY=1MO", "ordinals only"),
            ("FREQ=MONTHLY;BYDAY=XX", "BYDAY is not"), ("FREQ=MONTHLY;BYDAY=6MO", "BYDAY is not"),
            ("FREQ=MONTHLY;BYDAY=MO,", "BYDAY is not"), ("FREQ=DAILY;BYMONTH=13", "BYMONTH is not"),
            ("FREQ=DAILY;BYSETPOS=1", "BYSETPOS is not among"), ("FREQ=DAILY;BYHOUR=1", "BYHOUR is not among"),
            ("FREQ=DAILY;\u{1B}[31m=1", "a part is not among"), ("FREQ=DAILY;WKST=DI", "WKST is not"),
            (String(repeating: "FREQ=DAILY;", count: 20), "more than 200 bytes"),
        ])
    func refused(_ text: String, _ words: String) {
        let mistake = #expect(throws: RecurrenceRule.Mistake.self) { try RecurrenceRule(parsing: text) }
        #expect(mistake?.description.contains(words) == true, "\(text): \(String(describing: mistake))")
    }

    @Test("dates are read as ISO 8601 has them, and written the same")
    func dates() {
        for text in ["1970-01-01", "0001-01-01", "9999-12-31", "2000-02-29", "2026-11-30"] {
            #expect(LocalDate(text)?.description == text)
        }
        for text in ["1900-02-29", "2026-13-01", "2026-00-01", "2026-1-1", "2026-01-32", "+026-01-01", "2026-01-01 "] {
            #expect(LocalDate(text) == nil, "\(text)")
        }
        #expect(LocalDateTime("2026-12-24T18:00")?.description == "2026-12-24T18:00")
        #expect(LocalDateTime("2026-12-24T18:00:07")?.description == "2026-12-24T18:00:07")
        for clock in ["", "T24:00", "T18", "T18:60", "T18:00Z", " 18:00", "T18:00:00.5", "T+8:00"] {
            #expect(LocalDateTime("2026-12-24" + clock) == nil, "\(clock)")
        }
    }

    @Test("every day from 1600 to 2400 has the date and weekday that follow those of the day before")
    func calendar() throws {
        let first = try #require(LocalDate("1600-01-01"))
        let last = try #require(LocalDate("2400-12-31"))
        // By the definition: a month ends after its length.
        var (year, month, day) = (1600, 1, 1)
        var wrong = 0
        for number in first.dayNumber...last.dayNumber {
            let date = LocalDate(dayNumber: number)
            if date.parts != (year, month, day) || LocalDate(year: year, month: month, day: day) != date { wrong += 1 }
            let isLast = day == LocalDate.length(ofMonth: month, in: year)
            (year, month, day) = isLast ? (month == 12 ? year + 1 : year, month % 12 + 1, 1) : (year, month, day + 1)
        }
        #expect(wrong == 0)
        #expect(LocalDate("2026-11-30")?.weekday == .monday)
    }
}
