import APNsProtocol
import Foundation
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Answers")
struct HTTP2ConnectionAnswerTests {
    private let idText = "0F0E0D0C-0B0A-0908-0706-050403020100"

    @Test("a success brings the id, whatever its case")
    func success() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        try rig.receive(.success(1, id: idText))
        #expect(rig.takeEnds() == [0: .answered(.accepted(apnsID: UUID(uuidString: idText), uniqueID: nil))])
    }

    @Test("a refusal split over headers, continuations, many data frames and padding is one outcome")
    func splitRefusal() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        let block = ByteBuffer.headerBlock(status: 410, id: idText)
        try rig.receive(.frame(0x1, stream: 1, Array(block.prefix(3))))
        for byte in block.dropFirst(3).dropLast(1) where rig.connection.assembly?.block.readableBytes ?? 0 < 20 {
            try rig.receive(.frame(0x9, stream: 1, [byte]))
        }
        try rig.receive(.frame(0x9, flags: 0x4, stream: 1, Array(block.dropFirst(20))))
        for byte in #"{"reason":" Unregistered ","timestamp":1800000000123}"#.utf8 {
            try rig.receive(.frame(0x0, flags: 0x8, stream: 1, [2, byte, 0, 0]))
        }
        #expect(rig.takeEnds().isEmpty)
        try rig.receive(.frame(0x0, flags: 0x1, stream: 1))
        let rejection = APNsRejection(
            status: 410, reason: .unregistered, timestamp: 1_800_000_000_123, apnsID: UUID(uuidString: idText))
        #expect(rig.takeEnds() == [0: .answered(.rejected(rejection))])
    }

    @Test("a refusal without a body, with a broken one, or with a huge one keeps its status", arguments: ["", "{", "[]", "huge"])
    func oddBodies(body: String) throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        try rig.receive(.frame(0x1, flags: 0x4, stream: 1, ByteBuffer.headerBlock(status: 500)))
        let content = body == "huge" ? [UInt8](repeating: 0x7B, count: 16_000) : Array(body.utf8)
        try rig.receive(.frame(0x0, flags: 0x1, stream: 1, content))
        #expect(
            rig.takeEnds() == [0: .answered(.rejected(APNsRejection(status: 500, reason: APNsReason(rawValue: ""))))])
    }

    @Test("an interim answer is passed over, and trailers end an answer")
    func interimAndTrailers() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        try rig.receive(
            .frame(0x1, flags: 0x4, stream: 1, ByteBuffer.headerBlock(status: 103)),
            .frame(0x1, flags: 0x4, stream: 1, ByteBuffer.headerBlock(status: 400)),
            .frame(0x0, stream: 1, Array(#"{"reason":"BadTopic"}"#.utf8)), .frame(0x1, flags: 0x5, stream: 1, []))
        #expect(rig.takeEnds() == [0: .answered(.rejected(APNsRejection(status: 400, reason: .badTopic)))])
    }

    @Test("an answer before the whole body was sent counts, and the rest of the body is taken back")
    func earlyAnswer() throws {
        var rig = try ConnectionRig()
        try rig.receive(.settings((HTTP2Settings.Identifier.initialWindowSize, 4)))
        _ = try rig.open(1)
        try rig.receive(.refusal(1, 403, "InvalidProviderToken"))
        #expect(rig.takeEnds() == [0: .answered(.rejected(APNsRejection(status: 403, reason: .invalidProviderToken)))])
        try rig.receive(.reset(1, .noError), .credit(1000, stream: 1))
        try rig.exchange()
        #expect(rig.server.takeFrames().contains(.resetStream(stream: 1, code: .cancel)))
        #expect(rig.server.requests.first?.body.count == 4)
        #expect(rig.connection.blocked.isEmpty)
    }

    @Test(
        "an answer that is no answer ends its stream only",
        arguments: [
            "88 88", "", "88 00 01 41 01 62", "00 01 61 01 62", "08 02 32 30", "00 04 3a 666f6f 01 61", "00 01 61 01 62 88",
        ])
    func malformed(hex: String) throws {
        var rig = try ConnectionRig()
        _ = try rig.open(2)
        try rig.receive(.frame(0x1, flags: 0x5, stream: 1, bytes(hex)))
        #expect(rig.takeEnds() == [0: .lost(.protocolError)])
        try rig.receive(.success(3))
        #expect(rig.takeEnds().count == 1)
    }

    @Test("data before headers ends the stream")
    func dataFirst() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        try rig.receive(.frame(0x0, flags: 0x1, stream: 1, [1]))
        #expect(rig.takeEnds() == [0: .lost(.protocolError)])
    }

    @Test("a refused stream was not processed; a second reset of it is nothing")
    func refusedStream() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(2)
        try rig.receive(.reset(1, .refusedStream))
        #expect(rig.takeEnds() == [0: .refused])
        try rig.receive(.reset(1, .streamClosed))
        #expect(rig.takeEnds().isEmpty)
        try rig.receive(.reset(3, .internalError))
        #expect(rig.takeEnds() == [1: .lost(.streamReset)])
    }

    @Test("after a cancelled push a late answer is decoded and dropped")
    func lateAnswer() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(2)
        #expect(rig.connection.cancelAll { $0 == 0 }.map(\.isIncomplete) == [false])
        // The block inserts a field that the next answer refers to.
        try rig.receive(.frame(0x1, flags: 0x5, stream: 1, bytes("88 4001 6101 62")))
        try rig.receive(.frame(0x1, flags: 0x5, stream: 3, bytes("88 be")))
        #expect(rig.takeEnds() == [1: .answered(.accepted(apnsID: nil, uniqueID: nil))])
        try rig.exchange()
        #expect(rig.server.takeFrames() == [.resetStream(stream: 1, code: .cancel)])
    }

    @Test(
        "what breaks the connection ends it with the right code",
        arguments: [
            (ByteBuffer.success(99), HTTP2ErrorCode.protocolError), (.success(2), .protocolError),
            (.frame(0x0, stream: 99, [1]), .protocolError), (.reset(99, .cancel), .protocolError),
            (.credit(1, stream: 99), .protocolError), (.frame(0x1, flags: 0x5, stream: 1, [0xFF]), .compressionError),
            (.frame(0x9, flags: 0x4, stream: 1, [0x88]), .protocolError),
            (.frame(0x5, flags: 0x4, stream: 1, [0, 0, 0, 2]), .protocolError),
        ])
    func connectionFaults(frame: ByteBuffer, code: HTTP2ErrorCode) throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        let fault = #expect(throws: HTTP2Fault.self) { try rig.receive(frame) }
        #expect(fault?.code == code)
    }

    @Test("a header block is not interrupted, and does not go on without limit")
    func continuations() throws {
        var rig = try ConnectionRig()
        _ = try rig.open(1)
        try rig.receive(.frame(0x1, stream: 1, [0x88]))
        let interrupted = #expect(throws: HTTP2Fault.self) { try rig.receive(.frame(0xEE)) }
        #expect(interrupted?.code == .protocolError)
        rig = try ConnectionRig()
        _ = try rig.open(1)
        try rig.receive(.frame(0x1, stream: 1, [0x88]))
        let endless = #expect(throws: HTTP2Fault.self) {
            for _ in 0..<100 { try rig.receive(.frame(0x9, stream: 1)) }
        }
        #expect(endless?.code == .enhanceYourCalm)
    }
}
