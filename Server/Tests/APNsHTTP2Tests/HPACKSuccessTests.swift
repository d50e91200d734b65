import APNsProtocol
import ClarionTesting
import Foundation
import NIOCore
import Testing

@testable import APNsHTTP2

/// The fast way takes what servers really send, and leaves the table as the general way would.
@Suite("Successes in every encoding")
struct HPACKSuccessTests {
    /// A literal field. `name` is an index, or 0 with the name written out.
    private static func field(
        _ name: Int, named word: String = "apns-id", _ value: String, isIndexing: Bool, isHuffman: Bool = false
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        HPACKInteger.write(name, prefix: isIndexing ? 6 : 4, pattern: isIndexing ? 0x40 : 0, to: &bytes)
        if name == 0 { append(word, isHuffman: isHuffman, to: &bytes) }
        append(value, isHuffman: isHuffman, to: &bytes)
        return bytes
    }

    private static func append(_ text: String, isHuffman: Bool, to bytes: inout [UInt8]) {
        if isHuffman {
            HPACKEncoder.appendString(text, to: &bytes)
        } else {
            bytes += [UInt8(text.utf8.count)] + Array(text.utf8)
        }
    }

    private static func entries(_ decoder: HPACKDecoder) -> [String] {
        (0..<decoder.table.count).compactMap { index in
            decoder.table.withEntry(index) { String(decoding: $0, as: UTF8.self) + ": " + String(decoding: $1, as: UTF8.self) }
        }
    }

    /// What both ways make of a block; `nil` when it is refused.
    private static func general(_ block: [UInt8], _ decoder: inout HPACKDecoder) -> APNsAnswerHead? {
        var head = APNsAnswerHead()
        do {
            try block.withUnsafeBytes { try decoder.decode($0, into: &head) }
            return head
        } catch {
            return nil
        }
    }

    @Test("answers of a server that indexes every header and writes it plain are all taken", arguments: [false, true])
    func indexing(isSandbox: Bool) throws {
        var rig = try ConnectionRig()
        let count = 200
        #expect(try rig.open(count) == count)
        var reference = HPACKDecoder()
        for number in 0..<count {
            let (id, uniqueID) = (UUID(), UUID())
            // Both names move down by one with each insertion.
            let name = number == 0 ? 0 : isSandbox ? 63 : 62
            var block: [UInt8] = [0x88] + Self.field(name, id.uuidString, isIndexing: true)
            if isSandbox {
                block += Self.field(name, named: "apns-unique-id", uniqueID.uuidString.lowercased(), isIndexing: true)
            }
            _ = Self.general(block, &reference)
            let bytes = ByteBuffer.frame(0x1, flags: 0x5, stream: UInt32(2 * number + 1), block)
            var successes: [HTTP2Success<Int>] = []
            let taken = bytes.withUnsafeReadableBytes { rig.connection.receiveSuccesses($0, into: &successes) }
            try #require(taken == bytes.readableBytes, "answer \(number)")
            #expect(successes.map(\.ticket) == [number])
            #expect(successes.first?.apnsID == id)
            #expect(successes.first?.uniqueID == (isSandbox ? uniqueID : nil))
        }
        #expect(Self.entries(rig.connection.decoder) == Self.entries(reference))
        #expect(reference.table.count < count, "some were pushed out on the way")
    }

    @Test("the general way understands what the fast way has put into the table")
    func table() throws {
        let id = UUID().uuidString
        var decoder = HPACKDecoder()
        let first = [0x88] + Self.field(0, id, isIndexing: true, isHuffman: true)
        #expect(first.withUnsafeBytes { decoder.success($0) }?.apnsID == UUID(uuidString: id))
        #expect(try decoder.fields([0x88, 0xBE]) == [":status: 200", "apns-id: \(id)"])
    }

    @Test(
        "a block that says anything else is left alone",
        arguments: ["88", "88 be", "89", "8e 00 07", "88 40 07 61 70 6e 73 2d 69 64", "88 00 01 61 01 62", "20 88"])
    func others(hex: String) {
        var decoder = HPACKDecoder()
        #expect(bytes(hex).withUnsafeBytes { decoder.success($0) } == nil)
        #expect(decoder.table.count == 0)
    }

    @Test("what is cut off at any byte, or goes on, changes nothing")
    func cut() {
        let unique = Self.field(0, named: "apns-unique-id", UUID().uuidString, isIndexing: true)
        let block = [0x88] + Self.field(0, UUID().uuidString, isIndexing: true) + unique
        for length in 0..<block.count where length != block.count - unique.count {
            var decoder = HPACKDecoder()
            #expect(block.prefix(length).withUnsafeBytes { decoder.success($0) } == nil, "\(length)")
            #expect(decoder.table.count == 0)
        }
        var decoder = HPACKDecoder()
        #expect((block + [0x88]).withUnsafeBytes { decoder.success($0) } == nil)
        #expect(block.withUnsafeBytes { decoder.success($0) } != nil)
    }

    @Test("in any order of encodings, table sizes and mistakes both ways agree, and so do their tables")
    func agreement() {
        let seed = SeededGenerator.newSeed()
        print("HPACK successes seed \(seed)")
        var random = SeededRandom(seed: seed)
        var fast = 0
        for _ in 0..<200 {
            var (decoder, reference) = (HPACKDecoder(), HPACKDecoder())
            for number in 0..<60 {
                let block = number == 0 ? Self.names : Self.randomBlock(&random)
                let expected = Self.general(block, &reference)
                let head: (id: UUID?, uniqueID: UUID?)?
                if let success = block.withUnsafeBytes({ decoder.success($0) }) {
                    fast += 1
                    head = (success.apnsID, success.uniqueID)
                    #expect(expected?.status == 200, "seed \(seed)")
                } else {
                    head = Self.general(block, &decoder).map { ($0.apnsID, $0.uniqueID) }
                }
                #expect(head?.id == expected?.apnsID && head?.uniqueID == expected?.uniqueID, "seed \(seed)")
                #expect((head == nil) == (expected == nil), "seed \(seed)")
                #expect(Self.entries(decoder) == Self.entries(reference), "seed \(seed)")
                if expected == nil { break }
            }
        }
        #expect(fast > 300, "many successes go the fast way: \(fast), seed \(seed)")
    }

    /// Brings both names into the table.
    private static let names =
        [0x88] + field(0, UUID().uuidString, isIndexing: true)
        + field(0, named: "apns-unique-id", UUID().uuidString, isIndexing: true)

    private static func randomBlock(_ random: inout SeededRandom) -> [UInt8] {
        var block: [UInt8] = []
        if Int.random(in: 0..<40, using: &random) == 0 {
            HPACKInteger.write(
                [0, 80, 150, 300, 600, 4096].randomElement(using: &random) ?? 0, prefix: 5, pattern: 0x20, to: &block)
        }
        block.append(Int.random(in: 0..<10, using: &random) == 0 ? 0x8D : 0x88)
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let words = ["apns-id", "apns-id", "apns-unique-id", "date"]
            let word = words.randomElement(using: &random) ?? ""
            let text = Bool.random(using: &random) ? UUID().uuidString : UUID().uuidString.lowercased()
            let value = word == "date" ? "Mon, 21 Oct 2013 20:13:21 GMT" : text
            let name =
                Int.random(in: 0..<4, using: &random) == 0
                ? 0 : [61, 62, 62, 62, 63, 63, 63, 64, 65].randomElement(using: &random) ?? 62
            block += field(
                name, named: word, value, isIndexing: Bool.random(using: &random), isHuffman: Bool.random(using: &random))
        }
        if Int.random(in: 0..<100, using: &random) == 0 { block[Int.random(in: 0..<block.count, using: &random)] ^= 0x11 }
        return block
    }

    @Test("a plain UUID of either case is read like its text, and nothing else is", arguments: [false, true])
    func plainUUID(isLower: Bool) {
        for _ in 0..<300 {
            let id = UUID()
            let text = isLower ? id.uuidString.lowercased() : id.uuidString
            #expect(Array(text.utf8).withUnsafeBytes { PlainUUID.decode($0) } == id)
        }
        let good = Array("01234567-89ab-cDef-0123-456789abcdeF".utf8)
        for place in good.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = good
                changed[place] = byte
                let fast = changed.withUnsafeBytes { PlainUUID.decode($0) }
                #expect(fast == APNsUUID.parse(changed), "\(byte) at \(place)")
            }
        }
        #expect(good.dropLast().withUnsafeBytes { PlainUUID.decode($0) } == nil)
    }
}
