import ClarionTesting
import Testing

@testable import SharedAccess

@Suite struct SecretBoxTests {
    private let key = MasterKey.random()

    @Test("what was sealed opens for the same purpose, and twice sealed gives two texts")
    func roundTrip() throws {
        let box = SecretBox(key)
        let sealed = try box.seal("a key text", for: "hub 1 rule 2")
        #expect(try box.openText(sealed, for: "hub 1 rule 2") == "a key text")
        #expect(try SecretBox(key).openText(sealed, for: "hub 1 rule 2") == "a key text")
        #expect(try box.seal("a key text", for: "hub 1 rule 2") != sealed)
        #expect(sealed.hasPrefix("v1.\(key.id)."))
        #expect(!sealed.contains("key text"))
        #expect(try box.open(try box.seal([], for: "empty"), for: "empty") == [])
    }

    @Test("another purpose and another key have different errors")
    func elsewhere() throws {
        let sealed = try SecretBox(key).seal("secret", for: "hub 1")
        #expect(throws: SealingFault.notAuthentic) { try SecretBox(key).open(sealed, for: "hub 2") }
        #expect(throws: SealingFault.unknownKey(key.id)) { try SecretBox(.random()).open(sealed, for: "hub 1") }
    }

    @Test("after the key was exchanged, older texts still open and new ones are sealed with the new key")
    func rotation() throws {
        let next = MasterKey.random()
        let box = SecretBox(next, older: [key])
        #expect(try box.openText(try SecretBox(key).seal("old", for: "x"), for: "x") == "old")
        #expect(try box.seal("new", for: "x").hasPrefix("v1.\(next.id)."))
    }

    @Test("one changed character never opens")
    func changed() throws {
        var generator = SeededGenerator()
        let box = SecretBox(key)
        let sealed = Array(try box.seal("secret", for: "x"))
        for index in sealed.indices {
            var copy = sealed
            let other = "abcXYZ019-_.".filter { $0 != copy[index] }.randomElement(using: &generator) ?? "q"
            copy[index] = other
            #expect(throws: SealingFault.self, "seed \(generator.seed), at \(index)") { try box.open(String(copy), for: "x") }
        }
        for text in ["", ".", "v1..", "v2." + String(sealed.dropFirst(3)), "v1.\(key.id).AAAA", "v1.\(key.id)."] {
            #expect(throws: SealingFault.self) { try box.open(text, for: "x") }
        }
    }

    @Test("a secret is bounded")
    func bounded() {
        #expect(throws: SealingFault.malformed) {
            try SecretBox(key).seal([UInt8](repeating: 0, count: SecretBox.maximumLength + 1), for: "x")
        }
    }

    @Test("a master key is the Base64 of 32 bytes, whose text reads back and is never printed")
    func masterKey() throws {
        let read = try #require(MasterKey(text: " \(key.text)\n"))
        #expect(read.id == key.id)
        for text in ["", "AAAA", String(key.text.dropLast(1)), "\(key.text)A", String(repeating: "!", count: 44)] {
            #expect(MasterKey(text: text) == nil)
        }
        var dumped = ""
        dump(key, to: &dumped)
        dump(SecretBox(key), to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] { #expect(!text.contains(key.text)) }
    }
}
