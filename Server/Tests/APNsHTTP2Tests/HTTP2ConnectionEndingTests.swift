import ClarionTesting
import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("GOAWAY, PING and floods")
struct HTTP2ConnectionEndingTests {
    @Test("after GOAWAY the streams above its last one come back, and the others are still answered")
    func oneStep() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(4)
        try rig.receive(.goAway(last: 3, debug: #"{"reason":"Shutdown"}"#))
        let notice = try #require(rig.takeGoAways().first)
        #expect(notice.notProcessed == [2, 3])
        #expect(notice.goAway == HTTP2GoAway(lastStream: 3, code: .noError, reason: .shutdown))
        #expect(!rig.connection.canOpen(bodySize: 1))
        #expect(!rig.connection.isDrained)
        try rig.receive(.success(1), .success(5), .refusal(3, 400, "BadTopic"))
        #expect(Set(rig.takeEnds().keys) == [0, 1])
        #expect(rig.connection.isDrained)
    }

    @Test("the two-step form, duplicates and a rising last stream take nothing back twice")
    func twoSteps() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(3)
        try rig.receive(.goAway(last: 0x7FFF_FFFF))
        #expect(try #require(rig.takeGoAways().first).notProcessed.isEmpty)
        #expect(try rig.open(1) == 0)
        try rig.receive(.goAway(last: 3))
        #expect(try #require(rig.takeGoAways().first).notProcessed == [2])
        try rig.receive(.goAway(last: 3), .goAway(last: 99))
        #expect(rig.takeGoAways().flatMap(\.notProcessed).isEmpty)
        #expect(rig.connection.streams.count == 2)
    }

    @Test("GOAWAY may be the very first frame")
    func beforeSettings() throws {
        var rig = try ConnectionRig(isOpen: false)
        try rig.receive(.goAway(last: 0, debug: #"{"reason":"BadCertificateEnvironment"}"#))
        let goAway = try #require(rig.takeGoAways().first).goAway
        #expect(goAway.refusesCredential)
        #expect(rig.connection.isDrained)
    }

    @Test(
        "debug data is read leniently",
        arguments: [
            ("", nil),
            ("Maximum active streams violated for this endpoint.", "Maximum active streams violated for this endpoint."),
            (#"{"reason":"IdleTimeout"}"#, "IdleTimeout"), ("{}", "{}"), ("\u{1}\u{2}", nil),
        ])
    func debugData(text: String, reason: String?) throws {
        var rig = try ConnectionRig()
        try rig.receive(.goAway(last: 0, debug: text))
        #expect(rig.takeGoAways().first?.goAway.reason?.rawValue == reason)
    }

    @Test("a lost connection leaves every open push with its end, and marks the incomplete ones")
    func lost() throws {
        var rig = try ConnectionRig()
        try rig.receive(.settings((HTTP2Settings.Identifier.initialWindowSize, 4)))
        _ = try rig.open(1)
        try rig.receive(.settings((HTTP2Settings.Identifier.initialWindowSize, 100)))
        try rig.receive(.settings((HTTP2Settings.Identifier.initialWindowSize, 4)))
        _ = try rig.open(1, firstTicket: 1)
        let ends = rig.connection.takeAll()
        #expect(ends.map(\.ticket) == [0, 1])
        #expect(ends.map(\.isIncomplete) == [false, true])
    }

    @Test("a ping of the server is answered with its content")
    func answersPing() throws {
        var rig = try ConnectionRig()
        try rig.receive(.frame(0x6, [1, 2, 3, 4, 5, 6, 7, 8]))
        try rig.exchange()
        #expect(rig.server.takeFrames() == [.pingAcknowledgement(0x0102_0304_0506_0708)])
    }

    @Test("a connection that was silent is probed before it is used again, once")
    func probeAfterSilence() throws {
        var rig = try ConnectionRig()
        rig.now = rig.now + .seconds(30)
        rig.connection.probeAfterSilence(at: rig.now)
        try rig.exchange()
        #expect(rig.server.takeFrames().isEmpty)
        rig.now = rig.now + .seconds(1)
        rig.connection.probeAfterSilence(at: rig.now)
        rig.connection.probeAfterSilence(at: rig.now)
        try rig.exchange()
        #expect(rig.server.takeFrames() == [.ping(1)])
        #expect(rig.connection.watch(at: rig.now + .seconds(7)) == .again(rig.now + .seconds(8)))
        #expect(rig.connection.watch(at: rig.now + .seconds(8)) == .dead)
    }

    @Test("a connection that answers PING and no request is called stuck once, and checked in good time while it drains")
    func stuck() throws {
        var rig = try ConnectionRig()
        let start = rig.now
        rig.connection.probeAfterSilence(at: start)
        #expect(try rig.open() == 1)
        rig.connection.noteRead(at: start + .seconds(15))
        #expect(rig.connection.watch(at: start + .seconds(15)) == .again(start + .seconds(20)))
        rig.connection.noteRead(at: start + .seconds(20))
        #expect(rig.connection.watch(at: start + .seconds(20)) == .stuck)
        rig.connection.drain()
        #expect(rig.connection.watch(at: start + .seconds(20)) == .again(start + .seconds(30)))
    }

    @Test("an answer extends the deadline of requests that still wait")
    func renewedDeadline() throws {
        var rig = try ConnectionRig()
        let start = rig.now
        rig.connection.probeAfterSilence(at: start)
        #expect(try rig.open(2) == 2)
        rig.now = start + .seconds(15)
        try rig.receive(.success(1))
        #expect(rig.connection.watch(at: start + .seconds(20)) == .again(start + .seconds(25)))
        try rig.receive(.success(3))
        #expect(rig.connection.probe.owingSince == nil)
    }

    @Test("the round trip is known from the settings, and measured again after a minute of use")
    func roundTrip() throws {
        var rig = try ConnectionRig()
        #expect(rig.connection.probe.roundTrip == nil)
        rig.now = rig.now + .milliseconds(42)
        try rig.receive(.frame(0x4, flags: 0x1))
        #expect(rig.connection.probe.roundTrip == .milliseconds(42))
        rig.now = rig.now + .seconds(61)
        rig.connection.noteRead(at: rig.now)
        rig.connection.probeAfterSilence(at: rig.now)
        try rig.exchange()
        #expect(rig.server.takeFrames() == [.ping(1)])
        rig.now = rig.now + .milliseconds(17)
        try rig.receive(.frame(0x6, flags: 0x1, [0, 0, 0, 0, 0, 0, 0, 1]))
        #expect(rig.connection.probe.roundTrip == .milliseconds(17))
        rig.connection.probeAfterSilence(at: rig.now)
        try rig.exchange()
        #expect(rig.server.takeFrames().isEmpty)
    }

    @Test("a measurement that stays unanswered does not end a connection that is heard")
    func unansweredMeasurement() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        rig.now = rig.now + .seconds(61)
        rig.connection.noteRead(at: rig.now)
        rig.connection.probeAfterSilence(at: rig.now)
        #expect(rig.connection.watch(at: rig.now + .seconds(8)) == .dead)
        rig.connection.noteRead(at: rig.now + .seconds(1))
        #expect(rig.connection.watch(at: rig.now + .seconds(8)) == .again(rig.now + .seconds(11)))
    }

    @Test("open streams without any answer cause a probe, whose answer keeps the connection alive")
    func stall() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        try rig.exchange()
        let start = rig.now
        #expect(rig.connection.watch(at: start + .seconds(9)) == .again(start + .seconds(10)))
        #expect(rig.connection.watch(at: start + .seconds(10)) == .again(start + .seconds(18)))
        try rig.exchange()
        #expect(rig.server.takeFrames() == [.ping(1)])
        rig.now = start + .seconds(11)
        try rig.receive(.frame(0x6, flags: 0x1, [0, 0, 0, 0, 0, 0, 0, 9]))
        #expect(rig.connection.watch(at: start + .seconds(12)) == .again(start + .seconds(18)))
        try rig.receive(.frame(0x6, flags: 0x1, [0, 0, 0, 0, 0, 0, 0, 1]))
        #expect(rig.connection.watch(at: start + .seconds(12)) == .again(start + .seconds(21)))
    }

    @Test("an idle connection is not probed by the watch")
    func idle() throws {
        var rig = try ConnectionRig()
        #expect(rig.connection.watch(at: rig.now + .hours(1)) == .again(rig.now + .hours(1) + .seconds(10)))
        try rig.exchange()
        #expect(rig.server.takeFrames().isEmpty)
    }

    @Test(
        "a flood of frames without content ends the connection",
        arguments: [
            ByteBuffer.frame(0x6, [UInt8](repeating: 0, count: 8)), .settings(), .frame(0x0, stream: 1), .frame(0xEE),
            .frame(0x2, stream: 1, [0, 0, 0, 0, 1]),
        ])
    func flood(frame: ByteBuffer) throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        try rig.receive(.frame(0x1, flags: 0x4, stream: 1, ByteBuffer.headerBlock(status: 400)))
        let fault = #expect(throws: HTTP2Fault.self) {
            for _ in 0..<6000 { try rig.receive(frame) }
        }
        #expect(fault?.code == .enhanceYourCalm)
    }

    @Test("the same frames spread over time are no flood")
    func noFlood() throws {
        var rig = try ConnectionRig()
        for _ in 0..<12_000 {
            try rig.receive(.frame(0x6, [UInt8](repeating: 0, count: 8)))
            rig.now = rig.now + .milliseconds(10)
            _ = rig.connection.takeOutput()
        }
    }

    @Test("random frames never crash a connection, and every push has at most one end")
    func fuzz() throws {
        let seed = SeededGenerator.newSeed()
        print("HTTP/2 fuzz seed \(seed)")
        var random = SeededRandom(seed: seed)
        for _ in 0..<3000 {
            var rig = try ConnectionRig(streamLimit: 20)
            let opened = try rig.open(10)
            do {
                for _ in 0..<30 {
                    let payload = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                        Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : 0x88
                    }
                    try rig.receive(
                        .frame(
                            UInt8.random(in: 0...10, using: &random), flags: UInt8.random(in: 0...63, using: &random),
                            stream: UInt32.random(in: 0...21, using: &random), payload))
                }
            } catch {
                #expect(error is HTTP2Fault, "seed \(seed)")
            }
            let ended = rig.events.flatMap { event -> [Int] in
                switch event {
                case .finished(let ticket, _, _): [ticket]
                case .goAway(_, let tickets): tickets
                default: []
                }
            }
            let all = ended + rig.connection.takeAll().map(\.ticket)
            #expect(all.sorted() == Array(0..<opened), "seed \(seed)")
        }
    }
}
