import HTTPService
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Log keys")
struct LogKeyTests {
    /// The paths and texts of all sources of the server.
    private func sources() throws -> [(file: String, text: String)] {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let files = try ["Sources", "Lab"].flatMap { wing in
            try FileManager.default.subpathsOfDirectory(atPath: package.appending(path: wing).path).map { "\(wing)/\($0)" }
        }
        return try files.filter { $0.hasSuffix(".swift") }.map { file in
            (file, try String(contentsOf: package.appending(path: file), encoding: .utf8))
        }
    }

    @Test("hold one thing each: a hub's number is under 'hub_id', and 'hub' is a name")
    func hubs() throws {
        var found = 0
        for (file, text) in try sources() {
            for entry in text.matches(of: #/"(?<key>hub|hub_id)": "\\\((?<value>[A-Za-z.]+)\)"/#) {
                found += 1
                let isNumber = entry.output.value.hasSuffix("number")
                #expect(isNumber == (entry.output.key == "hub_id"), "\(file) logs \(entry.output.value)")
            }
        }
        #expect(found > 5)
    }

    @Test("that any module of the server writes as text are on the list")
    func closedList() throws {
        let known = Set(LogKey.allCases.map(\.rawValue))
        var found = 0
        for (file, text) in try sources() {
            for dictionary in text.matches(of: #/metadata: \[(?<entries>[^\]]*)\]/#) {
                for entry in dictionary.output.entries.matches(of: #/"(?<key>[A-Za-z0-9_.-]+)":/#) {
                    found += 1
                    #expect(known.contains(String(entry.output.key)), "\(file) logs under '\(entry.output.key)'")
                }
            }
        }
        #expect(found > 3)
    }

    @Test("cannot be mistaken for the fixed members of a JSON line")
    func reserved() {
        #expect(LogKey.allCases.allSatisfy { !["time", "level", "logger", "message"].contains($0.rawValue) })
    }
}
