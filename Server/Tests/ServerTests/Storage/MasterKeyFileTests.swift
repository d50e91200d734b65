import Foundation
import ServiceErrors
import SharedAccess
import Testing

@testable import ServerSettings
@testable import ServerStorage

@Suite("The master key of a node")
struct MasterKeyFileTests {
    private func withSettings(_ body: (Settings, String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "clarion-key-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        try body(settings, folder + "/master-key")
    }

    private func detail(_ work: () throws -> Void) -> String? {
        do { try work() } catch { return (error as? ServiceError)?.detail }
        return nil
    }

    @Test("the first start makes a key that only its owner can read, and every later one finds it")
    func made() throws {
        try withSettings { settings, path in
            let key = try MasterKeyFile.key(settings)
            #expect(try MasterKeyFile.key(settings).id == key.id)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == key.text + "\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: settings.dataDirectory) == ["master-key"])
        }
    }

    @Test("a key from the settings makes no file")
    func given() throws {
        try withSettings { settings, path in
            let key = MasterKey.random()
            var settings = settings
            settings.masterKey = SecretText(key.text)
            let found = try MasterKeyFile.key(settings)
            #expect(found.id == key.id)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("a file that others can read, or that is damaged, is refused and left as it is")
    func refused() throws {
        try withSettings { settings, path in
            try MasterKey.random().text.write(toFile: path, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            #expect(detail { _ = try MasterKeyFile.key(settings) }?.contains("chmod 600") == true)
            try "half a key".write(toFile: path, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            #expect(detail { _ = try MasterKeyFile.key(settings) }?.contains("not the Base64 text") == true)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "half a key")
        }
    }

    @Test("a malformed key in the settings is a problem that does not show it")
    func malformed() throws {
        let fixture = SettingsFixture(file: "master-key: c2hvcnQtc2VjcmV0\n")
        #expect(fixture.problems.count == 1)
        #expect(!fixture.problems.joined().contains("c2hvcnQ"))
        #expect(SettingsFixture(file: "master-key: \(MasterKey.random().text)\n").problems.isEmpty)
    }
}
