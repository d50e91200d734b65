import APNsEmulation
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel
import Testing

@testable import LabServices

@Suite("APNs goes away and returns", .serialized)
struct ReturningAPNsTests {
    @Test(
        "a send that is accepted while APNs is unavailable says what it waits for, and reaches every device once when APNs is back"
    )
    func returns() async throws {
        try await TemporaryFolder.use { folder in
            let fleet = try await Fleet(folder: folder, size: 300)
            var options = fleet.options
            options.shared["CLARION_PUSH_DEADLINE"] = "5s"
            let server = try await ServerProcess(options)
            let first = try await fleet.send(through: server.address, key: "before")
            _ = try await eventually("the send before the outage completes") {
                try await fleet.status(of: first, at: server.address).state == "completed" ? true : nil
            }
            let kept = fleet.apns.keptState
            await fleet.apns.shutdown()
            let second = try await fleet.send(through: server.address, key: "during")
            let waiting = try await eventually("the send says what it waits for") {
                try await fleet.status(of: second, at: server.address).waiting
            }
            #expect(waiting.cause == "push-service")
            #expect(waiting.reason == "unreachable")
            let failures = server.printed.split(separator: "\n").filter { $0.contains("No connection to APNs can be made") }
            #expect(failures.count == 1)
            #expect(failures.first?.contains("127.0.0.1:\(options.apnsPort)") == true)
            var configuration = LocalAPNsConfiguration()
            configuration.authority = try EmulatorFolder(path: folder + "/apns", now: SystemClock().now).authority
            configuration.port = options.apnsPort
            let returned = try LocalAPNs(
                configuration: configuration, clock: .system, group: .singletonMultiThreadedEventLoopGroup,
                logger: Logger(label: "apns"))
            try returned.restore(kept)
            try await returned.start()
            let status = try await eventually("the send completes") {
                let status = try await fleet.status(of: second, at: server.address)
                return status.state == "completed" ? status : nil
            }
            #expect(status.outcomes == ["accepted": 300])
            #expect(status.targets == 300)
            #expect(status.waiting == nil)
            let id = try #require(NotificationID(second.trackingID))
            let counts = returned.acceptanceCounts
            #expect(fleet.records.allSatisfy { counts[PushID(notification: id, record: $0).uuid] == 1 })
            #expect(await server.terminate() == 0)
            await returned.shutdown()
        }
    }
}
