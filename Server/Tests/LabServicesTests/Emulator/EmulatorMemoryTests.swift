import APNsEmulation
import ClarionTesting
import Foundation
import Logging
import NIOPosix
import RichPushModel
import ServiceErrors
import ServiceLifecycle
import Testing

@testable import LabServices

@Suite("What the local APNs remembers from one run to the next")
struct EmulatorMemoryTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "clarion-memory-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder + "/state.json")
    }

    private func emulator(_ clock: any ServiceClock) throws -> LocalAPNs {
        try LocalAPNs(
            configuration: LocalAPNsConfiguration(), clock: clock, group: MultiThreadedEventLoopGroup.singleton,
            logger: Self.logger)
    }

    private func memory(_ apns: LocalAPNs, _ path: String, _ clock: any ServiceClock) throws -> EmulatorMemory<LocalAPNs> {
        try EmulatorMemory(of: apns, at: path, clock: clock, logger: Self.logger)
    }

    @Test("a token of the run before is known, in a file that no other user may read")
    func restart() async throws {
        let clock = ManualClock()
        try await withFile { path in
            let before = try emulator(clock)
            let memory = try memory(before, path, clock)
            try before.registerApp(bundleID: "org.example.app", teamID: "LOCALTEAM0", broadcasts: false)
            _ = before.issueToken(device: "phone", topic: "org.example.app")
            #expect(memory.save())
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            let after = try emulator(clock)
            _ = try self.memory(after, path, clock)
            #expect(after.keptState == before.keptState)
            #expect(!after.keptState.isEmpty)
        }
    }

    @Test("the file follows a change, and the end writes what came last")
    func follows() async throws {
        let clock = ManualClock()
        try await withFile { path in
            let apns = try emulator(clock)
            let memory = try memory(apns, path, clock)
            let group = ServiceGroup(configuration: .init(services: [.init(service: memory)], logger: Self.logger))
            async let running: Void = group.run()
            #expect(await eventually { clock.sleeperCount > 0 })
            #expect(!FileManager.default.fileExists(atPath: path), "nothing changed")
            _ = apns.issueToken(device: "first", topic: "org.example.app")
            clock.advance(by: .seconds(1))
            #expect(await eventually { clock.sleeperCount > 0 })
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains("first"))
            _ = apns.issueToken(device: "second", topic: "org.example.app")
            await group.triggerGracefulShutdown()
            try await running
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains("second"))
        }
    }

    @Test("a damaged file ends the start with a sentence that names it", arguments: ["{", "[]", #"{"version":99}"#])
    func damaged(text: String) async throws {
        let clock = ManualClock()
        try await withFile { path in
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let error = #expect(throws: ServiceError.self) { try memory(try emulator(clock), path, clock) }
            #expect(error?.detail?.contains(path) == true)
            #expect(error?.detail?.contains("Remove it") == true)
        }
    }
}
