import Foundation
import ServiceErrors
import Testing

@testable import LabServices

@Suite("The key with which browsers subscribe at a demo")
struct DemoWebPushKeyTests {
    private func inFolder(_ body: (_ folder: String, _ file: String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "clarion-demo-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder, folder + "/web-push-key")
    }

    @Test("is made once, and is the same after a restart")
    func kept() throws {
        try inFolder { folder, _ in
            let first = try DemoWebPushKey.kept(in: folder)
            #expect(try DemoWebPushKey.kept(in: folder) == first)
            #expect(try DemoWebPushKey.kept(in: folder + "/other") != first)
        }
    }

    @Test("can be read by its owner alone")
    func isPrivate() throws {
        try inFolder { folder, file in
            _ = try DemoWebPushKey.kept(in: folder)
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("is not replaced when its file is damaged, and the error does not show the file")
    func damaged() throws {
        try inFolder { folder, file in
            _ = try DemoWebPushKey.kept(in: folder)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
            let error = #expect(throws: ServiceError.self) { try DemoWebPushKey.kept(in: folder) }
            #expect(error?.code == .notReady)
            #expect(error?.detail?.contains("mine") == false)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        }
    }
}
