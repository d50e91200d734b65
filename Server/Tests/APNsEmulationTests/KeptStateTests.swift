import APNsProtocol
import ClarionTesting
import Foundation
import Logging
import NIOPosix
import RichPushModel
import Testing

@testable import APNsEmulation

@Suite("What the local APNs keeps between runs")
struct KeptStateTests {
    @Test("a token, its app and its key are as good after a restart as before, and a dead token stays dead")
    func restart() throws {
        var before = try EmulatorFixture()
        let dead = before.apns.issueToken(device: "old-phone", topic: EmulatorFixture.bundleID)
        before.apns.invalidate(token: dead, reason: .expired, at: before.clock.now)
        try before.apns.subscribe(
            device: EmulatorFixture.device, toChannel: before.channel, bundleID: EmulatorFixture.bundleID)
        before.apns.revokeCertificate(serialNumber: "0a:FF")
        let json = try JSONEncoder().encode(before.apns.keptState)
        let kept = try JSONDecoder().decode(KeptState.self, from: json)
        let configuration = LocalAPNsConfiguration(randomSeed: 8)
        let apns = try LocalAPNs(
            configuration: configuration, clock: before.clock, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try apns.restore(kept)
        #expect(apns.keptState == kept)
        #expect(apns.channels(of: EmulatorFixture.bundleID) == [before.channel])
        #expect(EmulatorFixture.text(before.send()) == "200")
        var credentials = ConnectionCredentials()
        let alive = apns.core.judge(APNsRequest(head: before.head(), body: Array("{}".utf8)), credentials: &credentials)
        #expect(EmulatorFixture.text(alive) == "200")
        var head = before.head()
        head.path = "/3/device/" + dead
        let gone = apns.core.judge(APNsRequest(head: head, body: Array("{}".utf8)), credentials: &credentials)
        #expect(EmulatorFixture.text(gone) == "410 ExpiredToken")
    }

    @Test("a kept state of another version is refused and takes in nothing")
    func otherVersion() throws {
        let fixture = try EmulatorFixture()
        var kept = fixture.apns.keptState
        kept.version = 99
        kept.revokedCertificates = ["AB"]
        #expect(throws: LocalAPNsError.self) { try fixture.apns.restore(kept) }
        #expect(fixture.apns.keptState.revokedCertificates.isEmpty)
    }

    @Test(
        "a serial number is the same in every spelling",
        arguments: ["0A0FFF", "a0fff", "0a:0f:ff", "a:f:ff", "00:0A:0F:FF", "serial=0A0FFF"])
    func serialNumbers(text: String) {
        #expect(CertificateSerialNumber.canonical(text) == "A0FFF")
        #expect(CertificateSerialNumber.text(of: [0x0A, 0x0F, 0xFF]) == "0A0FFF")
    }

    @Test(
        "text that is no serial number is refused", arguments: ["", "xyz", "0a::ff", "0a:fff", String(repeating: "a", count: 41)])
    func noSerialNumbers(text: String) { #expect(CertificateSerialNumber.canonical(text) == nil) }

    @Test("a stream that is asked for after the end ends at once")
    func endedStreams() async throws {
        let fixture = try EmulatorFixture()
        fixture.apns.endStreams()
        for await _ in fixture.apns.connect(device: EmulatorFixture.device) { Issue.record("nothing was sent") }
    }

    @Test("an acknowledgement of SETTINGS after GOAWAY is taken silently, and what the first step promises is served")
    func lateAcknowledgement() throws {
        let fixture = try EmulatorFixture()
        let wire = try WireBytes(fixture)
        let first = try wire.arrive(wire.push(1, size: 2))
        #expect(first.contains { $0.type == 4 && $0.flags == 0 }, "the limit is raised and not acknowledged yet")
        wire.channel.pipeline.fireUserInboundEventTriggered(
            ConnectionCommand.goAwayInTwoSteps(reason: .shutdown, pause: .seconds(60)))
        let late = try wire.arrive(WireBytes.frame(4, flags: 1, stream: 0, []))
        #expect(late.filter { $0.type == 7 }.count == 1)
        let served = try wire.arrive(wire.push(3, size: 2))
        #expect(served.contains { $0.type == 1 && $0.stream == 3 })
        #expect(!served.contains { $0.type == 7 })
    }

    @Test("complaints, requests and deliveries can be cleared, and counting goes on")
    func clearing() throws {
        var fixture = try EmulatorFixture()
        let id = "11111111-2222-3333-4444-555555555555"
        for _ in 0..<2 { _ = fixture.send { $0.apnsID = id } }
        #expect(fixture.apns.complaints.map(\.kind) == [.repeatedAcceptedPushes])
        fixture.apns.clearComplaints()
        fixture.apns.clearRequests()
        fixture.apns.clearDeliveries()
        #expect(fixture.apns.complaints.isEmpty)
        #expect(fixture.apns.recordedExchanges.isEmpty)
        #expect(fixture.apns.deliveries.isEmpty)
        for _ in 0..<2 { _ = fixture.send { $0.apnsID = id } }
        #expect(fixture.apns.complaints.map(\.count) == [1])
        #expect(fixture.apns.recordedExchanges.count == 2)
    }
}
