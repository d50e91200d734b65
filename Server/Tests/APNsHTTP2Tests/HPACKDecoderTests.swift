import ClarionTesting
import Testing

@testable import APNsHTTP2

@Suite("HPACK decoding")
struct HPACKDecoderTests {
    private static let firstRequest = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"]
    private static let thirdRequest = [
        ":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com", "custom-key: custom-value",
    ]

    @Test("RFC 7541, C.2: the four representations")
    func representations() throws {
        var decoder = HPACKDecoder()
        let indexed = bytes("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572")
        #expect(try decoder.fields(indexed) == ["custom-key: custom-header"])
        #expect(try decoder.fields([0xBE]) == ["custom-key: custom-header"])
        #expect(try decoder.fields(bytes("040c 2f73 616d 706c 652f 7061 7468")) == [":path: /sample/path"])
        #expect(try decoder.fields(bytes("1008 7061 7373 776f 7264 0673 6563 7265 74")) == ["password: secret"])
        #expect(try decoder.fields([0x82]) == [":method: GET"])
    }

    @Test(
        "RFC 7541, C.3 and C.4: requests on one connection, without and with Huffman",
        arguments: [
            [
                "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", "8286 84be 5808 6e6f 2d63 6163 6865",
                "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
            ],
            [
                "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", "8286 84be 5886 a8eb 1064 9cbf",
                "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
            ],
        ])
    func requests(blocks: [String]) throws {
        var decoder = HPACKDecoder()
        #expect(try decoder.fields(bytes(blocks[0])) == Self.firstRequest)
        #expect(try decoder.fields(bytes(blocks[1])) == Self.firstRequest + ["cache-control: no-cache"])
        #expect(try decoder.fields(bytes(blocks[2])) == Self.thirdRequest)
    }

    @Test(
        "RFC 7541, C.5 and C.6: responses that evict from a table of 256 bytes, without and with Huffman",
        arguments: [
            [
                """
                4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133
                2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d
                """, "4803 3330 37c1 c0bf",
                """
                88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970
                7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765
                3d33 3630 303b 2076 6572 7369 6f6e 3d31
                """,
            ],
            [
                """
                4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718
                63c7 8f0b 97c8 e9ae 82ae 43d3
                """, "4883 640e ffc1 c0bf",
                """
                88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7
                b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07
                """,
            ],
        ])
    func responses(blocks: [String]) throws {
        var decoder = HPACKDecoder(tableSize: 256)
        let date = "date: Mon, 21 Oct 2013 20:13:21 GMT"
        let location = "location: https://www.example.com"
        #expect(try decoder.fields(bytes(blocks[0])) == [":status: 302", "cache-control: private", date, location])
        #expect(try decoder.fields(bytes(blocks[1])) == [":status: 307", "cache-control: private", date, location])
        #expect(
            try decoder.fields(bytes(blocks[2])) == [
                ":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT", location,
                "content-encoding: gzip", "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
            ])
    }

    @Test(
        "a block that breaks a rule is refused",
        arguments: [
            ("80", HPACKFault.invalidIndex), ("be", .invalidIndex), ("ff 80 80 80 80 80 01", .integerOverflow),
            ("ff", .truncated),
            ("00", .truncated), ("00 05 61", .truncated), ("00 01 61 85 ff", .truncated), ("82 20", .misplacedSizeUpdate),
            ("3f e2 1f", .sizeUpdateTooLarge), ("00 01 61 81 00", .invalidHuffman), ("00 01 61 84 ff ff ff ff", .invalidHuffman),
            ("7e 01 61", .invalidIndex), ("ff ff ff ff 7f", .integerOverflow),
        ])
    func refused(hex: String, fault: HPACKFault) {
        var decoder = HPACKDecoder()
        #expect(throws: fault) { try decoder.fields(bytes(hex)) }
    }

    @Test("a list beyond its limit is refused, in plain and as a bomb of references")
    func listLimit() throws {
        var decoder = HPACKDecoder(maximumListSize: 1000)
        let value = [UInt8](repeating: 0x61, count: 500)
        let literal: [UInt8] = [0x40, 0x01, 0x62, 0x7F, 0xF5, 0x02] + value
        #expect(literal.count == 506)
        _ = try? decoder.fields([0x40, 0x01, 0x62, 0x7F, 0xF5, 0x02] + value)
        #expect(throws: HPACKFault.listTooLong) { try decoder.fields([0xBE, 0xBE]) }
    }

    @Test("size updates shrink and empty the table, and it can grow again")
    func sizeUpdates() throws {
        var decoder = HPACKDecoder()
        _ = try decoder.fields(bytes("4001 6101 62"))
        #expect(try decoder.fields([0xBE]) == ["a: b"])
        #expect(try decoder.fields(bytes("20 3f e1 1f 4001 6301 64")) == ["c: d"])
        #expect(try decoder.fields([0xBE]) == ["c: d"])
        #expect(throws: HPACKFault.invalidIndex) { try decoder.fields([0xBF]) }
    }

    @Test("an entry larger than the table empties it")
    func oversizedEntry() throws {
        var decoder = HPACKDecoder(tableSize: 64)
        _ = try decoder.fields(bytes("4001 6101 62"))
        let value = [UInt8](repeating: 0x61, count: 64)
        _ = try decoder.fields([0x40, 0x01, 0x62, 0x40] + value)
        #expect(throws: HPACKFault.invalidIndex) { try decoder.fields([0xBE]) }
    }

    @Test("a thousand insertions keep the newest within the table", arguments: [64, 256, 4096])
    func manyInsertions(tableSize: Int) throws {
        var decoder = HPACKDecoder(tableSize: tableSize)
        for number in 0..<5000 {
            let name = Array("n\(number)".utf8)
            _ = try decoder.fields([0x40, UInt8(name.count)] + name + [0x01, 0x61])
            #expect(try decoder.fields([0xBE]) == ["n\(number): a"])
        }
    }

    @Test("random bytes never do worse than a refusal")
    func fuzz() {
        let seed = SeededGenerator.newSeed()
        print("HPACK fuzz seed \(seed)")
        var random = SeededRandom(seed: seed)
        for _ in 0..<20_000 {
            var decoder = HPACKDecoder()
            for _ in 0..<3 {
                let block = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
                do { _ = try decoder.fields(block) } catch { #expect(error is HPACKFault, "seed \(seed)") }
            }
        }
    }
}
