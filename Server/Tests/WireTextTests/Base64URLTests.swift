import Foundation
import Testing
import WireText

@Suite("Base64 for addresses")
struct Base64URLTests {
    @Test("of any bytes reads back, and is the usual one but for two letters and the padding")
    func roundTrip() {
        var random = SystemRandomNumberGenerator()
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let text = Base64URL.text(of: bytes)
            let usual = text.replacing("-", with: "+").replacing("_", with: "/")
            #expect(usual == Data(bytes).base64EncodedString().prefix { $0 != "=" }, "\(bytes)")
            #expect(Base64URL.bytes(of: text) == bytes && Base64URL.bytes(of: text[...]) == bytes, "\(bytes)")
        }
        #expect(Base64URL.text(of: [0xFB, 0xFF]) == "-_8")
        #expect(Base64URL.bytes(of: "-_8") == [0xFB, 0xFF])
    }

    @Test(
        "takes one spelling of each",
        arguments: ["A", "AAAAA", "AB", "-_9", "+/8", "AA==", "AAA=", "AA AA", "AAAA\n", "AAAÄ", "AA.A", "AA\0A", "====", "é"])
    func refuses(_ text: String) { #expect(Base64URL.bytes(of: text) == nil) }

    @Test(
        "other spellings become that one",
        arguments: [("-_8", "-_8"), ("+/8=", "-_8"), ("AA==", "AA"), ("", ""), ("Ä+", "Ä-")])
    func plain(_ text: String, _ plain: String) { #expect(Base64URL.plain(text) == plain) }
}
