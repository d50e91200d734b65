import Foundation
import Testing

@testable import CommandLineSupport

@Suite("Files that are named on the command line")
struct ContentInputTests {
    private func fault(_ path: String) -> InputFault? {
        do throws(InputFault) {
            _ = try ContentInput.read(path)
            return nil
        } catch { return error }
    }

    @Test("a file that cannot be read ends with 66 and the reason, and one without bytes with 65")
    func reasons() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-input-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/a"
        #expect(fault(path) == InputFault("\(path) cannot be read: there is no such file", .noInput))
        #expect(fault(folder.path) == InputFault("\(folder.path) cannot be read: it is a folder", .noInput))
        try Data().write(to: URL(filePath: path))
        #expect(fault(path) == InputFault("\(path) is empty", .badInput))
        try Data("ab".utf8).write(to: URL(filePath: path))
        #expect(fault(path) == nil)
        #expect(try ContentInput.read(path, limit: 2) == Data("ab".utf8))
        #expect(throws: InputFault("\(path) has more than 1 bytes", .badInput)) { try ContentInput.read(path, limit: 1) }
    }
}
