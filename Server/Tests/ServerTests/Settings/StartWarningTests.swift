import ClarionTesting
import Foundation
import Testing

@testable import ServerComposition
@testable import ServerOperations
@testable import ServerSettings

@Suite("Warnings at the start")
struct StartWarningTests {
    private func settings(_ file: String) throws -> Settings { try #require(SettingsFixture(file: file).read().settings) }

    @Test("name a proxy in front that is not trusted")
    func proxy() throws {
        #expect(StartWarning.proxy(try settings("behind-tls-proxy: true")).count == 1)
        #expect(StartWarning.proxy(try settings("behind-tls-proxy: true\ntrusted-proxies: [10.0.0.1]")).isEmpty)
        #expect(StartWarning.proxy(try settings("listen-port: 8080")).isEmpty)
    }

    @Test("of a proxy that is seen at work come once")
    func seenProxy() {
        let notes = LogNotes()
        let warning = ProxyWarning(logger: notes.logger)
        for _ in 0..<3 { warning.forwarded(by: "10.0.0.1") }
        #expect(notes.lines.count == 1)
        #expect(notes.lines.first?.message.contains("trusted-proxies") == true)
    }

    @Test(
        "name a data directory that others reach",
        arguments: [(0o777, true), (0o755, true), (0o770, true), (0o750, false), (0o700, false)])
    func dataDirectory(mode: Int, isNamed: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(chmod(folder, mode_t(mode)) == 0)
        let found = StartWarning.permissions(try settings("data-directory: \(folder)"), effectiveUser: 1000)
        #expect(found.map(\.advice) == (isNamed ? ["chmod 700 \(folder)"] : []))
    }

    @Test("name a signing key that others read", arguments: [(0o644, true), (0o660, true), (0o640, false), (0o600, false)])
    func signingKey(mode: Int, isNamed: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".p8").path()
        try Data("key".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(chmod(path, mode_t(mode)) == 0)
        let file = "apns-topic: a.b\napns-team-id: ABCDE12345\napns-key-id: ABCDE12345\napns-key-path: \(path)"
        var fixture = SettingsFixture(file: file)
        fixture.files[path] = "key"
        var settings = try #require(fixture.read().settings)
        settings.dataDirectory = "/nonexistent"
        let found = StartWarning.permissions(settings, effectiveUser: 1000)
        #expect(found.map(\.advice) == (isNamed ? ["chmod 600 \(path)"] : []))
    }

    @Test("name the key files of FCM and Web Push that others read")
    func otherKeys() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try settings("data-directory: /nonexistent")
        let paths = [folder + "/firebase.json", folder + "/web-push-keys"]
        (settings.fcm.keyPath, settings.webPush.keysPath) = (paths[0], paths[1])
        for (mode, advice) in [(0o644, paths.map { "chmod 600 \($0)" }), (0o640, [])] {
            for path in paths {
                try Data("key".utf8).write(to: URL(filePath: path))
                #expect(chmod(path, mode_t(mode)) == 0)
            }
            #expect(StartWarning.permissions(settings, effectiveUser: 1000).map(\.advice) == advice)
        }
    }

    @Test("name root, and nothing where all is well")
    func root() throws {
        let settings = try settings("data-directory: /nonexistent")
        #expect(StartWarning.permissions(settings, effectiveUser: 0).map(\.found) == ["the process runs as root"])
        #expect(StartWarning.permissions(settings, effectiveUser: 1000).isEmpty)
    }

    @Test("are lines of the log, each with what to do")
    func lines() throws {
        let notes = LogNotes()
        StartWarning.log(try settings("behind-tls-proxy: true\ndata-directory: /nonexistent"), to: notes.logger)
        let all = notes.lines.map { "\($0.level) \($0.message)" }
        #expect(all.contains { $0.hasPrefix("warning behind-tls-proxy is set and trusted-proxies is empty") })
    }

    @Test("are said by the doctor as well")
    func doctor() async throws {
        let fixture = SettingsFixture(file: "behind-tls-proxy: true")
        var found: [String: DoctorCheck.Finding] = [:]
        for check in Doctor.checks(for: fixture.read()) where ["proxy in front", "permissions"].contains(check.name) {
            found[check.name] = await check.look()
        }
        #expect(found["proxy in front"]?.verdict == .notice)
        #expect(found["proxy in front"]?.remedy?.contains("trusted-proxies") == true)
        #expect(found["permissions"] != nil)
    }
}
