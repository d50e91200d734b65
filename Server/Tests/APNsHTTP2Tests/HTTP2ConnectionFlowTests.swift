import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Flow control")
struct HTTP2ConnectionFlowTests {
    @Test("bodies go out whole, and wait when the window of the connection is used up")
    func connectionWindow() throws {
        var rig = try ConnectionRig()
        #expect(try rig.open(100, size: 4096) == 15)
        try rig.receive(.credit(32_768))
        #expect(try rig.open(100, size: 4096, firstTicket: 15) == 8)
        try rig.exchange()
        #expect(rig.server.takeRequests().allSatisfy { $0.isComplete && $0.body.count == 4096 })
    }

    @Test("with half-window credit from the server everything still gets through")
    func halfWindowCredit() throws {
        var rig = try ConnectionRig()
        var sent = 0
        var consumed = 0
        for _ in 0..<200 where sent < 300 {
            sent += try rig.open(300 - sent, size: 1024, firstTicket: sent)
            try rig.exchange()
            for request in rig.server.takeRequests() {
                try rig.receive(.success(request.stream))
                consumed += request.body.count
                guard consumed >= 32_768 else { continue }
                try rig.receive(.credit(UInt32(consumed)))
                consumed = 0
            }
        }
        #expect(sent == 300)
        #expect(rig.takeEnds().count == 300)
    }

    @Test("a small stream window splits a body, and a zero window holds it back")
    func streamWindow() throws {
        var rig = try ConnectionRig()
        try rig.receive(.settings((HTTP2Settings.Identifier.initialWindowSize, 8)))
        #expect(try rig.open(1, size: 20) == 1)
        try rig.exchange()
        #expect(rig.server.requests.first?.body.count == 8)
        try rig.receive(.credit(5, stream: 1))
        try rig.exchange()
        #expect(rig.server.requests.first?.body.count == 13)
        try rig.receive(.settings((HTTP2Settings.Identifier.initialWindowSize, 0)))
        try rig.receive(.credit(7, stream: 1))
        try rig.exchange()
        // 8 given at first, 8 taken back, 12 given: the window stands at -8 + 7 before and 0 after one more byte.
        #expect(rig.server.requests.first?.body.count == 13)
        try rig.receive(.settings((HTTP2Settings.Identifier.initialWindowSize, 65_535)))
        try rig.exchange()
        #expect(rig.server.requests.first?.body.count == 20)
        #expect(rig.server.requests.first?.isComplete == true)
    }

    @Test("a body larger than the whole window of the connection is begun when nothing else is open")
    func tinyConnectionWindow() throws {
        var rig = try ConnectionRig()
        #expect(try rig.open(15, size: 4096) == 15)
        try rig.exchange()
        for stream in stride(from: UInt32(1), to: 31, by: 2) { try rig.receive(.success(stream)) }
        #expect(try rig.open(1, size: 4096) == 1)
        #expect(try rig.open(1, size: 1) == 0)
        try rig.exchange()
        #expect(rig.server.requests.last?.isComplete == false)
        try rig.receive(.credit(4096))
        try rig.exchange()
        #expect(rig.server.requests.last?.isComplete == true)
    }

    @Test("a body above the frame size is split")
    func frameSize() throws {
        var rig = try ConnectionRig()
        #expect(try rig.open(1, size: 40_000) == 1)
        try rig.exchange()
        #expect(rig.server.requests.last?.body.count == 40_000)
        #expect(rig.server.requests.last?.isComplete == true)
    }

    @Test("what is received is credited at half of the window, and more than the window is refused")
    func receiving() throws {
        var rig = try ConnectionRig()
        #expect(try rig.open(1) == 1)
        try rig.receive(.success(1))
        let padding = ByteBuffer.frame(0x0, stream: 1, [UInt8](repeating: 0, count: 16_384))
        for _ in 0..<512 { try rig.receive(padding) }
        try rig.exchange()
        #expect(rig.server.takeFrames() == [.windowUpdate(stream: 0, increment: 8 * 1024 * 1024)])
    }

    @Test("a server that overruns the window of a stream loses that stream")
    func streamOverrun() throws {
        var rig = try ConnectionRig()
        #expect(try rig.open(1) == 1)
        try rig.receive(.frame(0x1, flags: 0x4, stream: 1, ByteBuffer.headerBlock(status: 400)))
        for _ in 0..<5 { try rig.receive(.frame(0x0, stream: 1, [UInt8](repeating: 0x20, count: 16_384))) }
        #expect(rig.takeEnds() == [0: .lost(.protocolError)])
        try rig.exchange()
        #expect(rig.server.takeFrames().contains(.resetStream(stream: 1, code: .flowControlError)))
    }

    @Test("windows beyond the maximum are refused")
    func overflow() throws {
        var rig = try ConnectionRig()
        let fault = #expect(throws: HTTP2Fault.self) { try rig.receive(.credit(0x7FFF_FFFF)) }
        #expect(fault?.code == .flowControlError)
        rig = try ConnectionRig()
        #expect(try rig.open(1) == 1)
        try rig.receive(.credit(0x7FFF_FFFF, stream: 1))
        #expect(rig.takeEnds() == [0: .lost(.protocolError)])
        rig = try ConnectionRig()
        let empty = #expect(throws: HTTP2Fault.self) { try rig.receive(.credit(0)) }
        #expect(empty?.code == .protocolError)
    }
}
