import Foundation
import Testing

@testable import ServerStorage

@Suite("The name of a node")
struct NodeIdentityTests {
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "clarion-identity-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test("it is the same after a restart, and another data directory has another")
    func lasting() throws {
        try inFolder { one in
            try inFolder { two in
                let first = try NodeIdentity(dataDirectory: one).name
                #expect(try NodeIdentity(dataDirectory: one).name == first)
                #expect(try NodeIdentity(dataDirectory: two).name != first)
            }
        }
    }

    @Test("a second process in one data directory never passes for the first")
    func shared() throws {
        try inFolder { folder in
            let first = try NodeIdentity(dataDirectory: folder)
            let second = try NodeIdentity(dataDirectory: folder)
            #expect(first.isLasting)
            #expect(!second.isLasting)
            #expect(first.name != second.name)
        }
    }

    @Test("a file that holds no name is written anew")
    func damaged() throws {
        try inFolder { folder in
            for text in ["", "short", "this is no number", "0123456789abcdef0"] {
                try Data(text.utf8).write(to: URL(filePath: folder + "/node-id"))
                let name = try NodeIdentity(dataDirectory: folder).name
                #expect(try NodeIdentity(dataDirectory: folder).name == name)
            }
        }
    }
}
