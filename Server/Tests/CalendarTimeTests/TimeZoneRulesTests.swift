import ClarionTesting
import Foundation
import Testing

@testable import CalendarTime

@Suite("Time zones")
struct TimeZoneRulesTests {
    private let database = TimeZoneDatabase()

    /// The moment of a wall time in a zone, as UTC.
    private func moment(_ wish: String, in zone: String) throws -> String? {
        let rules = try #require(database.zone(zone))
        let wish = try #require(LocalDateTime(wish))
        return rules.seconds(of: wish).map { LocalDateTime(seconds: $0).description }
    }

    @Test("around every change of every zone, and on any day, wall times mean what zdump says", arguments: [2025, 2037])
    func oracle(_ year: Int) async throws {
        let names = try zoneNames()
        #expect(names.count > 400)
        var random = SeededGenerator()
        print("seed \(random.seed)")
        var (asked, wrong): (Int, [String]) = (0, [])
        for (name, zone) in try await ZoneDump.read(names, from: year, to: year + 3) {
            let rules = try #require(database.zone(name))
            for wish in zone.wishes(from: year, years: 3, &random) {
                asked += 1
                let (found, expected) = (rules.seconds(of: wish), zone.seconds(of: wish))
                let isShown = found.map { rules.local(atSeconds: $0).seconds == $0 + zone.offset(at: $0) } ?? true
                if found != expected || !isShown { wrong.append("\(name) \(wish): \(found ?? -1), \(expected ?? -1)") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(asked), as \(wrong.prefix(5))")
        #expect(asked > 100 * names.count)
    }

    private func zoneNames() throws -> [String] {
        let root = TimeZoneDatabase.systemDirectory
        let files = try #require(FileManager.default.enumerator(atPath: root))
        return files.compactMap { $0 as? String }.filter { database.zone($0) != nil }.sorted()
    }

    @Test(
        "a time that is left out is read with the offset from before, and one that comes twice is the first",
        arguments: [
            ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30"), ("Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00"),
            ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30"), ("Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00"),
            ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:45"),
            ("Europe/Dublin", "2045-03-26T01:30", "2045-03-26T01:30"),
            ("America/New_York", "2045-07-01T09:00", "2045-07-01T13:00"),
            ("Asia/Kathmandu", "2026-01-01T00:00", "2025-12-31T18:15"), ("UTC", "2026-01-01T00:00", "2026-01-01T00:00"),
            ("Etc/GMT+5", "2026-01-01T00:00", "2026-01-01T05:00"),
            ("America/St_Johns", "1800-01-01T00:00", "1800-01-01T03:30:52"),
        ])
    func gaps(_ zone: String, _ wish: String, _ expected: String) throws {
        #expect(try moment(wish, in: zone) == expected)
    }

    @Test("a date that a zone left out has no moment")
    func missingDate() throws {
        #expect(try moment("2011-12-30T09:00", in: "Pacific/Apia") == nil)
        #expect(try moment("2011-12-29T09:00", in: "Pacific/Apia") == "2011-12-29T19:00")
        #expect(try moment("2011-12-31T09:00", in: "Pacific/Apia") == "2011-12-30T19:00")
    }

    @Test(
        "only names of zones are read",
        arguments: [
            "", "/etc/passwd", "../zoneinfo/Europe/Berlin", "Europe/../Europe/Berlin", "Europe", "Europe/Atlantis", "zone.tab",
            "right/Europe/Berlin", "posix/Europe/Berlin", "Europe//Berlin", "Europe/Berlin/", "Europe/Berlin\u{0}", "tzdata.zi",
            String(repeating: "A", count: 65),
        ])
    func names(_ name: String) {
        #expect(database.zone(name) == nil)
    }

    @Test("a file that was cut off anywhere is no zone, and does no harm")
    func cutOff() throws {
        let path = "\(TimeZoneDatabase.systemDirectory)/Europe/Berlin"
        let bytes = try Array(Data(contentsOf: URL(filePath: path)))
        #expect(TimeZoneRules(tzif: bytes) != nil)
        // Without its last line the footer has no end.
        for length in 0..<bytes.count { #expect(TimeZoneRules(tzif: Array(bytes.prefix(length))) == nil) }
    }

    @Test("a changed byte anywhere gives rules or none, and does no harm")
    func changedByte() throws {
        let path = "\(TimeZoneDatabase.systemDirectory)/America/New_York"
        let bytes = try Array(Data(contentsOf: URL(filePath: path)))
        let wish = try #require(LocalDateTime("2026-03-08T02:30"))
        var random = SeededGenerator()
        print("seed \(random.seed)")
        var read = 0
        for place in bytes.indices {
            var changed = bytes
            changed[place] = .random(in: 0...255, using: &random)
            guard let rules = TimeZoneRules(tzif: changed) else { continue }
            read += 1
            _ = rules.seconds(of: wish)
        }
        #expect(read > bytes.count / 2)
    }

    @Test("files of another version are noticed, and those of before forgotten")
    func refresh() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = URL(filePath: TimeZoneDatabase.systemDirectory)
        let (zone, list) = (folder.appending(path: "Zone"), folder.appending(path: "tzdata.zi"))
        try FileManager.default.copyItem(at: source.appending(path: "Europe/Berlin"), to: zone)
        try Data("# version 2026a\n# more\n".utf8).write(to: list)
        let database = TimeZoneDatabase(directory: folder.path)
        #expect(database.refresh(), "the first look")
        let berlin = database.zone("Zone")
        #expect(database.version == "2026a" && berlin != nil)
        try Data(contentsOf: source.appending(path: "Asia/Tokyo")).write(to: zone)
        #expect(!database.refresh())
        #expect(database.zone("Zone") == berlin)
        try Data("# version 2026b\n".utf8).write(to: list)
        #expect(database.refresh())
        #expect(database.version == "2026b" && database.zone("Zone") != berlin && database.zone("Zone") != nil)
    }
}

/// The offsets of a zone as `zdump` of the C library finds them.
private struct ZoneDump {
    /// From a moment on, in seconds since 1970; the first from the beginning of time.
    var offsets: [(from: Int64, offset: Int64)] = []

    static func read(_ names: [String], from: Int, to: Int) async throws -> [(name: String, zone: ZoneDump)] {
        let file = FileManager.default.temporaryDirectory.appending(path: "zdump-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let command = ChildProcess.Command("zdump", ["-i", "-c", "\(from - 1),\(to + 1)"] + names, output: file.path)
        #expect(try await ChildProcess(command).exitStatus() == 0)
        var zones: [(name: String, zone: ZoneDump)] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("TZ=") {
                zones.append((String(line.dropFirst(4).dropLast()), ZoneDump()))
                continue
            }
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            let offset = try #require(seconds(fields[2]))
            let isFirst = fields[0] == "-"
            let local = isFirst ? 0 : try #require(LocalDate(fields[0])).dayNumber * 86_400 + #require(seconds(fields[1]))
            zones[zones.count - 1].zone.offsets.append((isFirst ? .min : Int64(local - offset), Int64(offset)))
        }
        return zones
    }

    /// Reads `HH`, `HH:MM` and `HH:MM:SS`, with a sign and without colons too.
    private static func seconds(_ text: Substring) -> Int? {
        let digits = text.filter(\.isNumber)
        guard digits.count.isMultiple(of: 2), (2...6).contains(digits.count), let number = Int(digits) else { return nil }
        let whole = number * [2: 10_000, 4: 100, 6: 1][digits.count, default: 0]
        let seconds = whole / 10_000 * 3600 + whole / 100 % 100 * 60 + whole % 100
        return text.hasPrefix("-") ? -seconds : seconds
    }

    func offset(at moment: Int64) -> Int64 { offsets.last { $0.from <= moment }?.offset ?? 0 }

    func seconds(of wish: LocalDateTime) -> Int64? {
        if let shown = shown(wish.seconds) { return shown }
        let before = offsets.indices.dropLast().first {
            let (change, old, new) = (offsets[$0 + 1].from, offsets[$0].offset, offsets[$0 + 1].offset)
            return (change + old..<max(change + old, change + new)).contains(wish.seconds)
        }
        let midnight = Int64(wish.date.dayNumber) * 86_400
        let isThere = (0..<96).contains { shown(midnight + $0 * 900) != nil }
        return before.flatMap { isThere ? wish.seconds - offsets[$0].offset : nil }
    }

    /// The first moment at which a clock shows these seconds of its own time.
    private func shown(_ local: Int64) -> Int64? {
        Set(offsets.map(\.offset)).map { local - $0 }.filter { $0 + offset(at: $0) == local }.min()
    }

    /// Wall times of some years: each quarter of an hour around each change, and any.
    func wishes(from year: Int, years: Int, _ random: inout SeededGenerator) -> [LocalDateTime] {
        guard let start = LocalDate(year: year, month: 1, day: 1) else { return [] }
        let range = Int64(start.dayNumber) * 86_400..<Int64(start.dayNumber + 365 * years) * 86_400
        let near = offsets.filter { range.contains($0.from) }.flatMap { change in
            (-112...112).map { change.from + change.offset + $0 * 900 }
        }
        let any = (0..<120).map { _ in Int64.random(in: range, using: &random) }
        return (near + any).filter(range.contains).map { LocalDateTime(seconds: $0) }
    }
}
