import Foundation
import SQLiteDatabase
import ServiceErrors
import Testing

@testable import LabServices

@Suite("The folder of a demo")
struct DemoFolderTests {
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "clarion-demo-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func prepare(_ folder: String, afresh: Bool) throws {
        try DemoFolder.prepare(DemoOptions(port: nil, directory: folder, startsAfresh: afresh, program: "clarion"))
    }

    @Test("is emptied when that was asked for, and not while another demo runs in it")
    func afresh() throws {
        try inFolder { folder in
            try prepare(folder, afresh: false)
            let server = DemoFolder.server(in: folder)
            try FileManager.default.createDirectory(atPath: server, withIntermediateDirectories: true)
            let database = try SQLiteDatabase(path: server + "/clarion.sqlite", access: .server)
            try Data("state".utf8).write(to: URL(fileURLWithPath: folder + "/state"))
            let error = #expect(throws: ServiceError.self) { try prepare(folder, afresh: true) }
            #expect(error?.code == .conflict)
            #expect(error?.detail?.contains("another demo runs in \(folder)") == true)
            #expect(FileManager.default.fileExists(atPath: folder + "/state"))
            try database.close()
            try prepare(folder, afresh: true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["clarion-demo"])
        }
    }

    @Test("that holds other files is left alone")
    func foreign() throws {
        try inFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/file"))
            #expect(throws: ServiceError.self) { try prepare(folder, afresh: true) }
            #expect(FileManager.default.fileExists(atPath: folder + "/file"))
        }
    }
}
