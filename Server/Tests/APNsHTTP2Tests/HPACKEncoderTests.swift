import ClarionTesting
import Testing

@testable import APNsHTTP2

@Suite("HPACK encoding")
struct HPACKEncoderTests {
    @Test("what is encoded is decoded, and indexed fields take one byte from the second time on")
    func roundTrip() throws {
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        var first: [UInt8] = []
        encoder.append(":method", "POST", .indexed, to: &first)
        encoder.append("authorization", "bearer " + String(repeating: "aB3-_", count: 40), .indexed, to: &first)
        encoder.append("apns-topic", "com.example.app", .indexed, to: &first)
        encoder.append("apns-collapse-id", "one", .nameOnly, to: &first)
        let fields = try decoder.fields(first)
        #expect(fields.map { $0.prefix { $0 != ":" || fields.isEmpty } }.count == 4)
        #expect(fields[2] == "apns-topic: com.example.app")
        let generation = encoder.generation
        var second: [UInt8] = []
        encoder.append(":method", "POST", .indexed, to: &second)
        encoder.append("authorization", "bearer " + String(repeating: "aB3-_", count: 40), .indexed, to: &second)
        encoder.append("apns-topic", "com.example.app", .indexed, to: &second)
        #expect(second.count == 3)
        encoder.append("apns-collapse-id", "two", .nameOnly, to: &second)
        #expect(encoder.generation == generation)
        #expect(try decoder.fields(second) == [fields[0], fields[1], fields[2], "apns-collapse-id: two"])
    }

    @Test("each field of the static table is found at its place, and its name at the first place that has it")
    func staticTable() {
        for (place, field) in HPACKStaticTable.fields.enumerated() {
            #expect(HPACKStaticTable.index(ofName: field.name, value: field.value) == place + 1)
            let first = HPACKStaticTable.fields.firstIndex { $0.name == field.name }
            #expect(HPACKStaticTable.index(ofName: field.name) == first.map { $0 + 1 })
            #expect(HPACKStaticTable.index(ofName: field.name, value: "no such value") == nil)
        }
        #expect(HPACKStaticTable.index(ofName: "ttl") == nil)
    }

    @Test("a secret is written out each time, marked as never to be indexed, and changes no table")
    func secret() throws {
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        let generation = encoder.generation
        for _ in 0..<2 {
            var block: [UInt8] = []
            encoder.append(":path", "/secret", .never, to: &block)
            #expect(block.first == 0x14)
            encoder.append("x-secret", "s", .never, to: &block)
            #expect(try decoder.fields(block) == [":path: /secret", "x-secret: s"])
        }
        #expect(encoder.generation == generation)
        var other: [UInt8] = []
        encoder.append("x-other", "o", .indexed, to: &other)
        #expect(try decoder.fields(other) == ["x-other: o"])
        #expect(try decoder.fields([0xBE]) == ["x-other: o"])
        #expect(throws: (any Error).self, "nothing else is in the table") { try decoder.fields([0xBF]) }
    }

    @Test("RFC 7541, C.4.1: a string is Huffman-coded when that is shorter")
    func huffman() {
        var coded: [UInt8] = []
        HPACKEncoder.appendString("www.example.com", to: &coded)
        #expect(coded == bytes("8c f1 e3 c2 e5 f2 3a 6b a0 ab 90 f4 ff"))
        var plain: [UInt8] = []
        HPACKEncoder.appendString("\u{7f}\u{7f}", to: &plain)
        #expect(plain == bytes("02 7f 7f"))
    }

    @Test("every byte survives the Huffman code")
    func allBytes() throws {
        let seed = SeededGenerator.newSeed()
        print("Huffman seed \(seed)")
        var random = SeededRandom(seed: seed)
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            var coded = [UInt8](repeating: 0, count: HuffmanCode.encodedLength(of: text))
            coded.withUnsafeMutableBufferPointer { memory in
                guard let base = memory.baseAddress else { return }
                HuffmanCode.encoding.withUnsafeBufferPointer { table in
                    var writer = HuffmanWriter(base)
                    for byte in text { writer.write(byte, table: table) }
                    writer.finish()
                }
            }
            var decoded: [UInt8] = []
            try coded.withUnsafeBytes { try HuffmanDecoder.shared.decode($0, into: &decoded, limit: 100) }
            #expect(decoded == text, "seed \(seed)")
        }
    }

    @Test("a peer that lowers and raises its table gets the smallest and the last size")
    func sizeUpdates() throws {
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        var block: [UInt8] = []
        encoder.append("a", "b", .indexed, to: &block)
        _ = try decoder.fields(block)
        encoder.peerAllows(0)
        encoder.peerAllows(100)
        block = []
        encoder.beginBlock(&block)
        #expect(block == bytes("20 3f 45"))
        encoder.append("a", "b", .indexed, to: &block)
        #expect(try decoder.fields(block) == ["a: b"])
        block = []
        encoder.beginBlock(&block)
        encoder.append("a", "b", .indexed, to: &block)
        #expect(block == [0xBE])
    }

    @Test("a table of no size still carries every field")
    func noTable() throws {
        var encoder = HPACKEncoder()
        encoder.peerAllows(0)
        var decoder = HPACKDecoder(tableSize: 4096)
        for _ in 0..<3 {
            var block: [UInt8] = []
            encoder.beginBlock(&block)
            encoder.append("apns-topic", "com.example.app", .indexed, to: &block)
            encoder.append("apns-id", "x", .nameOnly, to: &block)
            #expect(try decoder.fields(block) == ["apns-topic: com.example.app", "apns-id: x"])
        }
    }

    @Test("a peer that offers more than 4096 bytes is not taken at its word")
    func ceiling() {
        var encoder = HPACKEncoder()
        encoder.peerAllows(1_000_000)
        var block: [UInt8] = []
        encoder.beginBlock(&block)
        #expect(block.isEmpty)
    }

    @Test("encoder and decoder agree through random fields and table sizes")
    func agreement() throws {
        let seed = SeededGenerator.newSeed()
        print("HPACK agreement seed \(seed)")
        var random = SeededRandom(seed: seed)
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        for _ in 0..<3000 {
            if Int.random(in: 0..<20, using: &random) == 0 { encoder.peerAllows(Int.random(in: 0...5000, using: &random)) }
            var block: [UInt8] = []
            var expected: [String] = []
            encoder.beginBlock(&block)
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let name = "n\(Int.random(in: 0..<30, using: &random))"
                let value = String(repeating: "v", count: Int.random(in: 0...200, using: &random))
                encoder.append(name, value, Bool.random(using: &random) ? .indexed : .nameOnly, to: &block)
                expected.append("\(name): \(value)")
            }
            #expect(try decoder.fields(block) == expected, "seed \(seed)")
        }
    }
}
