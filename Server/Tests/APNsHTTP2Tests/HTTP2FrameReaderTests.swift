import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Reading frames")
struct HTTP2FrameReaderTests {
    private func frames(_ hex: String) throws -> [HTTP2Frame] {
        var buffer = ByteBuffer(bytes: bytes(hex))
        var frames: [HTTP2Frame] = []
        while let frame = try HTTP2FrameReader.next(&buffer) { frames.append(frame) }
        return frames
    }

    private func buffer(_ hex: String) -> ByteBuffer { ByteBuffer(bytes: bytes(hex)) }

    @Test("each type is read as it is meant")
    func types() throws {
        #expect(
            try frames("000003 00 01 00000001 616263")
                == [.data(stream: 1, body: buffer("616263"), flowControlled: 3, endStream: true)])
        #expect(
            try frames("000006 00 08 00000001 02 616263 0000")
                == [.data(stream: 1, body: buffer("616263"), flowControlled: 6, endStream: false)])
        #expect(
            try frames("000007 01 2d 80000003 00 80000001 0f 88")
                == [.headers(stream: 3, fragment: buffer("88"), endStream: true, endHeaders: true)])
        #expect(
            try frames("000001 09 04 00000003 88") == [.continuation(stream: 3, fragment: buffer("88"), endHeaders: true)])
        #expect(try frames("000004 03 00 00000005 00000007") == [.resetStream(stream: 5, code: .refusedStream)])
        var settings = HTTP2Settings()
        settings.maximumConcurrentStreams = 1
        settings.initialWindowSize = 65_535
        #expect(
            try frames("000012 04 00 00000000 0003 00000001 0004 0000ffff 00ff 00000009") == [.settings(settings)])
        #expect(try frames("000000 04 01 00000000") == [.settingsAcknowledgement])
        #expect(try frames("000008 06 00 00000000 0000000000000007") == [.ping(7)])
        #expect(try frames("000008 06 01 00000000 0000000000000007") == [.pingAcknowledgement(7)])
        #expect(
            try frames("00000a 07 00 00000000 80000003 00000000 7b7d")
                == [.goAway(lastStream: 3, code: .noError, debug: buffer("7b7d"))])
        #expect(try frames("000004 08 00 00000000 80000010") == [.windowUpdate(stream: 0, increment: 16)])
        #expect(try frames("000005 02 00 00000001 0000000010") == [.ignored])
        #expect(try frames("000001 ee ff 00000009 00") == [.ignored])
    }

    @Test(
        "a frame of the wrong form is refused with the code that the standard names",
        arguments: [
            ("004001 00 00 00000001", HTTP2ErrorCode.frameSizeError), ("000001 00 00 00000000 00", .protocolError),
            ("000001 00 08 00000001 01", .protocolError), ("000000 00 08 00000001", .protocolError),
            ("000002 01 20 00000001 0000", .frameSizeError), ("000003 03 00 00000001 000000", .frameSizeError),
            ("000004 03 00 00000000 00000000", .protocolError), ("000005 04 00 00000000 0000000000", .frameSizeError),
            ("000000 04 00 00000001", .protocolError), ("000006 04 01 00000000 000300000001", .frameSizeError),
            ("000006 04 00 00000000 000480000000", .flowControlError), ("000006 04 00 00000000 000500003fff", .protocolError),
            ("000006 04 00 00000000 000200000001", .protocolError), ("000007 06 00 00000000 00000000000000", .frameSizeError),
            ("000008 06 00 00000001 0000000000000000", .protocolError), ("000004 07 00 00000000 00000000", .frameSizeError),
            ("000008 07 00 00000001 0000000000000000", .protocolError), ("000003 08 00 00000000 000000", .frameSizeError),
            ("000004 05 04 00000001 00000002", .protocolError), ("000001 09 04 00000000 88", .protocolError),
        ])
    func malformed(hex: String, code: HTTP2ErrorCode) {
        let fault = #expect(throws: HTTP2Fault.self) { try frames(hex) }
        #expect(fault?.code == code)
    }

    @Test("frames that arrive byte by byte are the same frames")
    func splitAnywhere() throws {
        let hex = """
            000006 04 00 00000000 0003 00000001  000001 01 05 00000001 88  000008 06 00 00000000 0000000000000007
            000003 00 01 00000003 616263
            """
        let whole = try frames(hex)
        #expect(whole.count == 4)
        var input = ByteBuffer()
        var pieces: [HTTP2Frame] = []
        for byte in bytes(hex) {
            input.writeInteger(byte)
            while let frame = try HTTP2FrameReader.next(&input) { pieces.append(frame) }
        }
        #expect(pieces == whole)
    }
}
