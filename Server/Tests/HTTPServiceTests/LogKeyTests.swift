import HTTPService
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Log keys")
struct LogKeyTests {
    @Test("that any module of the server writes as text are on the list")
    func closedList() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let known = Set(LogKey.allCases.map(\.rawValue))
        var found = 0
        let files = try ["Sources", "Lab"].flatMap { wing in
            try FileManager.default.subpathsOfDirectory(atPath: package.appending(path: wing).path).map { "\(wing)/\($0)" }
        }
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: package.appending(path: file), encoding: .utf8)
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
