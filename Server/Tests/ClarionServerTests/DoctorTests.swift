import Foundation
import Testing

@testable import ClarionServer

@Suite("The doctor")
struct DoctorTests {
    private func findings(_ fixture: SettingsFixture, names: Set<String>) async -> [String: DoctorCheck.Finding] {
        var findings: [String: DoctorCheck.Finding] = [:]
        for check in Doctor.checks(for: fixture.read()) where names.contains(check.name) {
            findings[check.name] = await check.look()
        }
        return findings
    }

    @Test("bad settings are the only finding, because nothing else can be looked at")
    func badSettings() async {
        let checks = Doctor.checks(for: SettingsFixture(file: "listen-port: abc").read())
        #expect(checks.map(\.name) == ["settings"])
        let finding = await checks.first?.look()
        #expect(finding?.verdict == .bad)
        #expect(finding?.found.contains("clarion.yaml line 1") == true)
    }

    @Test("a data directory that can be made is good, a file in its place is bad")
    func dataDirectory() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let names: Set = ["data directory", "disk"]
        let good = await findings(SettingsFixture(arguments: ["--data-directory", folder.path() + "/new"]), names: names)
        #expect(good["data directory"]?.verdict == .good)
        #expect(good["disk"]?.found.hasSuffix("MB free") == true)
        let file = folder.appending(path: "file")
        try Data().write(to: file)
        let bad = await findings(SettingsFixture(arguments: ["--data-directory", file.path()]), names: names)
        #expect(bad["data directory"]?.verdict == .bad)
    }

    @Test("without a signing key it says that nothing can be pushed")
    func credential() async {
        let finding = await findings(SettingsFixture(), names: ["signing key"])["signing key"]
        #expect(finding?.verdict == .notice)
        #expect(finding?.mend != nil)
    }

    @Test("a data directory where nothing can be made is bad, whatever its permission bits say")
    func hopelessDirectory() async {
        let finding = await findings(SettingsFixture(arguments: ["--data-directory", "/proc/x"]), names: ["data directory"])
        #expect(finding["data directory"]?.verdict == .bad)
        #expect(finding["data directory"]?.found.hasPrefix("/proc/x is missing, and nothing can be made in /proc: ") == true)
    }

    @Test("looking leaves nothing behind")
    func noTraces() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for path in [folder.path(), folder.path() + "/a/b"] {
            let finding = await findings(SettingsFixture(arguments: ["--data-directory", path]), names: ["data directory"])
            #expect(finding["data directory"]?.verdict == .good)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()).isEmpty)
    }

    @Test("a database that cannot be reached is named with what was said of it, and not with what a caller of the server is told")
    func database() async {
        let url = "postgres://u:hidden-word@/x?host=/nonexistent-folder"
        let finding = await findings(SettingsFixture(environment: ["CLARION_DATABASE_URL": url]), names: ["database"])
        let found = finding["database"]?.found ?? ""
        #expect(finding["database"]?.verdict == .bad && found.contains("/nonexistent-folder/.s.PGSQL.5432"), "\(found)")
        #expect(!found.contains("hidden-word"))
    }

    @Test("defaults that are written out do not differ from the defaults")
    func writtenDefaults() async {
        let reference = await findings(SettingsFixture(file: SettingsReference.exampleFile), names: ["settings"])
        #expect(reference["settings"]?.found.hasPrefix("0 differ") == true)
        let changed = SettingsFixture(arguments: ["--listen-port", "8080"], file: "log-level: debug\ncontent-limit: 25MB")
        #expect(await findings(changed, names: ["settings"])["settings"]?.found.hasPrefix("1 differ") == true)
    }
}
