import ClarionTesting
import Foundation
import Testing

@testable import CalendarTime

@Suite("Quiet hours")
struct QuietHoursTests {
    private let database = TimeZoneDatabase()

    /// When quiet hours end that hold at a moment, as UTC.
    private func end(_ hours: String, at moment: String, in zone: String) throws -> String? {
        let quiet = try #require(QuietHours(hours))
        let start = try #require(LocalDateTime(moment))
        let rules = try #require(database.zone(zone))
        return quiet.end(atSeconds: start.seconds, in: rules).map { LocalDateTime(seconds: $0).description }
    }

    @Test(
        "they end where the device is, and do not hold outside of them",
        arguments: [
            ("22:00-08:00", "2026-01-15T21:30", "Europe/Berlin", "2026-01-16T07:00"),
            ("22:00-08:00", "2026-01-15T20:59:59", "Europe/Berlin", nil),
            ("22:00-08:00", "2026-01-16T07:00", "Europe/Berlin", nil),
            ("12:00-14:00", "2026-01-15T12:30", "UTC", "2026-01-15T14:00"), ("12:00-14:00", "2026-01-15T14:00", "UTC", nil),
            // The clock goes from 02:00 to 03:00, past the end of the quiet hours.
            ("22:00-02:30", "2026-03-29T00:10", "Europe/Berlin", "2026-03-29T01:00"),
            // 02:30 comes twice: after the first, 02:00 to 02:30 are quiet once more.
            ("22:00-02:30", "2026-10-25T00:10", "Europe/Berlin", "2026-10-25T00:30"),
            ("22:00-02:30", "2026-10-25T01:10", "Europe/Berlin", "2026-10-25T01:30"),
            // They end at 03:00, which is an hour later when the clock is set back from 03:00 to 02:00.
            ("22:00-03:00", "2026-10-24T21:00", "Europe/Berlin", "2026-10-25T02:00"),
        ] as [(String, String, String, String?)])
    func ends(_ hours: String, _ moment: String, _ zone: String, _ expected: String?) throws {
        #expect(try end(hours, at: moment, in: zone) == expected)
    }

    @Test("in every zone, around every change and on any day, they end at the first minute that is not quiet")
    func everywhere() throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        let root = TimeZoneDatabase.systemDirectory
        let files = try #require(FileManager.default.enumerator(atPath: root))
        let names = files.compactMap { $0 as? String }.filter { database.zone($0) != nil }.sorted()
        #expect(names.count > 400)
        let first = try #require(LocalDateTime("2026-01-01T00:00")).seconds
        var (held, wrong): (Int, [String]) = (0, [])
        for name in names {
            let rules = try #require(database.zone(name))
            func isQuiet(_ moment: Int64, _ quiet: QuietHours) -> Bool {
                quiet.contains(secondOfDay: rules.local(atSeconds: moment).secondOfDay)
            }
            // Days on which the clocks change, and a few others, in three years.
            let days = (0..<3 * 365).map { first + Int64($0) * 86_400 }
            let changing = days.filter {
                rules.local(atSeconds: $0).secondOfDay != rules.local(atSeconds: $0 + 86_400).secondOfDay
            }
            for day in changing + days.shuffled(using: &random).prefix(3) {
                let (from, to) = (Int.random(in: 0..<24 * 60, using: &random), Int.random(in: 1..<24 * 60, using: &random))
                let text = [from, (from + to) % (24 * 60)].map { String(format: "%02d:%02d", $0 / 60, $0 % 60) }
                let quiet = try #require(QuietHours(text.joined(separator: "-")))
                let start = day + Int64.random(in: 0..<24 * 60, using: &random) * 60
                var expected: Int64?
                if isQuiet(start, quiet) {
                    held += 1
                    expected = start
                    while let moment = expected, isQuiet(moment, quiet) { expected = moment + 60 }
                }
                if quiet.end(atSeconds: start, in: rules) != expected { wrong.append("\(name) \(quiet) \(start)") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) wrong, as \(wrong.prefix(5))")
        #expect(held > 1_000)
    }

    @Test(
        "only two different times of day are quiet hours",
        arguments: [
            "", "22:00", "22:00-22:00", "22:00-24:00", "22-08", "22:00-08:00-09:00", "22:00:00-08:00", "a-b", "-22:00-08:00",
        ])
    func refused(_ text: String) {
        #expect(QuietHours(text) == nil)
    }

    @Test("they are written as they are read", arguments: ["22:00-08:00", "00:00-00:01", "23:59-00:00"])
    func text(_ text: String) {
        #expect(QuietHours(text)?.description == text)
    }
}
