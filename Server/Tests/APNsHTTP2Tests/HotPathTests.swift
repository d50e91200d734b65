import APNsProtocol
import Foundation
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("The fast ways say what the general ways say")
struct HotPathTests {
    private func coded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        HPACKEncoder.appendString(text, to: &bytes)
        return Array(bytes.dropFirst())
    }

    @Test("a Huffman-coded UUID of either case is read like its text")
    func huffmanUUID() {
        for _ in 0..<500 {
            let id = UUID()
            for text in [id.uuidString, id.uuidString.lowercased()] {
                #expect(coded(text).withUnsafeBytes { HuffmanUUID.decode($0) } == id)
            }
        }
    }

    @Test("what is no UUID, is cut off or goes on is not read")
    func noUUID() {
        let text = "01234567-89ab-cdef-0123-456789abcdef"
        let good = coded(text)
        #expect(good.dropLast().withUnsafeBytes { HuffmanUUID.decode($0) } == nil)
        #expect((good + [0xFF]).withUnsafeBytes { HuffmanUUID.decode($0) } == nil)
        for wrong in [text + "0", String(text.dropLast()), text.replacing("-", with: "0"), text.replacing("a", with: "x"), ""] {
            #expect(coded(wrong).withUnsafeBytes { HuffmanUUID.decode($0) } == nil)
        }
    }

    @Test("paths and ids written two digits at a time are the same bytes as one at a time", arguments: [2, 64, 65, 150])
    func hexadecimal(length: Int) {
        let token = String((0..<(length / 2 * 2)).map { _ in "0123456789abcdefABCDEF".randomElement() ?? "0" })
        var general: [UInt8] = []
        HPACKEncoder.appendString("/3/device/" + token.lowercased(), to: &general)
        var memory = [UInt8](repeating: 0, count: token.utf8.count + 64)
        let count = memory.withUnsafeMutableBufferPointer { memory in
            Array(token.utf8).withUnsafeBufferPointer { HuffmanHex.writeDevicePath($0, to: memory.baseAddress!) }
        }
        #expect(Array(memory.prefix(count)) == general)
        let id = UUID()
        general = []
        HPACKEncoder.appendString(APNsUUID.text(id), to: &general)
        let size = memory.withUnsafeMutableBufferPointer { memory in
            withUnsafeBytes(of: id.uuid) { HuffmanHex.writeUUID($0, to: memory.baseAddress!) }
        }
        #expect(Array(memory.prefix(size)) == general)
    }

    /// A success; the first one brings the name of the id into the client's table, the others refer to it.
    private func success(_ stream: UInt32, _ id: UUID, isFirst: Bool = false) -> ByteBuffer {
        var block: [UInt8] = isFirst ? [0x88, 0x40, 0x07] + Array("apns-id".utf8) : [0x88, 0x0F, 0x2F]
        HPACKEncoder.appendString(APNsUUID.text(id), to: &block)
        return .frame(0x1, flags: 0x5, stream: stream, block)
    }

    @Test("successes are taken as far as they go, and the rest is left to the general way")
    func successes() throws {
        var rig = try ConnectionRig()
        #expect(try rig.open(4) == 4)
        let ids = (0..<3).map { _ in UUID() }
        try rig.receive(success(1, ids[0], isFirst: true))
        #expect(rig.takeEnds() == [0: .answered(.accepted(apnsID: ids[0], uniqueID: nil))])
        var bytes = success(3, ids[1])
        bytes.writeImmutableBuffer(success(5, ids[2]))
        let whole = bytes.readableBytes
        bytes.writeImmutableBuffer(.refusal(7, 400, "BadDeviceToken"))
        var successes: [HTTP2Success<Int>] = []
        let taken = bytes.withUnsafeReadableBytes { rig.connection.receiveSuccesses($0, into: &successes) }
        #expect(taken == whole)
        #expect(successes.map(\.ticket) == [1, 2])
        #expect(successes.map(\.apnsID) == [ids[1], ids[2]])
        #expect(rig.connection.streams.count == 1)
    }

    @Test("a success cut at any byte waits for the rest")
    func cutSuccess() throws {
        var rig = try ConnectionRig()
        #expect(try rig.open(2) == 2)
        try rig.receive(success(1, UUID(), isFirst: true))
        let frame = success(3, UUID())
        for length in 0...frame.readableBytes {
            var successes: [HTTP2Success<Int>] = []
            let part = frame.getSlice(at: 0, length: length) ?? ByteBuffer()
            let isWhole = length == frame.readableBytes
            let taken = part.withUnsafeReadableBytes { rig.connection.receiveSuccesses($0, into: &successes) }
            #expect(taken == (isWhole ? length : 0))
            #expect(successes.count == (isWhole ? 1 : 0))
        }
    }
}
