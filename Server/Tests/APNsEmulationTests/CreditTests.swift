import NIOCore
import Testing

@testable import APNsEmulation

@Suite("Clients that spend credit before it can have arrived")
struct CreditTests {
    private func fixture(_ adjust: (inout EmulationRules) -> Void = { _ in }) throws -> EmulatorFixture {
        try EmulatorFixture { rules in
            rules.firstConcurrentStreams = 100
            rules.lowersLimitAfterRejection = false
            adjust(&rules)
        }
    }

    private func overruns(_ fixture: EmulatorFixture) -> Int {
        fixture.apns.complaints.filter { $0.kind == .overranWindow }.reduce(0) { $0 + $1.count }
    }

    /// The error code of the GOAWAY among the frames.
    private func goAway(_ frames: [FrameScanner.Frame]) -> UInt32? {
        frames.first { $0.type == 7 }.flatMap { $0.payload.getInteger(at: $0.payload.readerIndex + 4, as: UInt32.self) }
    }

    @Test("more than a window in one go ends the connection, though half of it would have been given back by then")
    func tooMuchAtOnce() throws {
        let fixture = try fixture()
        let wire = try WireBytes(fixture)
        let frames = try wire.arrive(
            wire.push(1, size: 14_000), wire.push(3, size: 14_000), wire.push(5, size: 14_000), wire.push(7, size: 14_000),
            wire.push(9, size: 14_000))
        #expect(goAway(frames) == 3)
        #expect(overruns(fixture) == 1)
        #expect(!wire.channel.isActive)
    }

    @Test("the same bytes are welcome when the client waits for its credit")
    func honest() throws {
        let fixture = try fixture()
        let wire = try WireBytes(fixture)
        let first = try wire.arrive(
            wire.push(1, size: 14_000), wire.push(3, size: 14_000), wire.push(5, size: 14_000), wire.push(7, size: 14_000))
        #expect(first.contains { $0.type == 8 && $0.stream == 0 })
        let second = try wire.arrive(wire.push(9, size: 14_000))
        #expect(goAway(second) == nil)
        #expect(second.contains { $0.type == 1 && $0.stream == 9 })
        #expect(overruns(fixture) == 0)
    }

    @Test("credit that still travels is not there yet, and what is spent then is an overrun")
    func distance() async throws {
        let fixture = try fixture { $0.creditDelay = .seconds(1) }
        let wire = try WireBytes(fixture)
        let first = try wire.arrive(
            wire.push(1, size: 14_000), wire.push(3, size: 14_000), wire.push(5, size: 14_000), wire.push(7, size: 14_000))
        #expect(!first.contains { $0.type == 8 && $0.stream == 0 })
        #expect(goAway(try wire.arrive(wire.push(9, size: 14_000))) == 3)
        #expect(overruns(fixture) == 1)
    }

    @Test("a stream that overruns its own window is reset, and the connection goes on")
    func stream() throws {
        let fixture = try fixture { $0.initialWindowSize = 1_000 }
        let wire = try WireBytes(fixture)
        let frames = try wire.arrive(wire.push(1, size: 1_001), wire.push(3, size: 900))
        let reset = frames.first { $0.type == 3 && $0.stream == 1 }
        #expect(reset?.payload.getInteger(at: reset?.payload.readerIndex ?? 0, as: UInt32.self) == 3)
        #expect(frames.contains { $0.type == 1 && $0.stream == 3 })
        #expect(overruns(fixture) == 1)
    }

    @Test("an honest client at a distance is never accused")
    func honestAtDistance() async throws {
        try await RunningEmulator.run { rules in
            rules.creditDelay = .milliseconds(20)
            rules.firstConcurrentStreams = 100
        } _: { emulator in
            let client = try await emulator.connect()
            let body = String(repeating: "x", count: 4_000)
            for _ in 0..<3 {
                let answers = try await client.send(Array(repeating: emulator.push(body), count: 60))
                #expect(answers.allSatisfy { (try? $0.get().status) == "200" })
            }
            #expect(!emulator.apns.complaints.contains { $0.kind == .overranWindow })
            try await client.close()
        }
    }
}
