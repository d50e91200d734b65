import Testing
import WireText

@Suite("Hexadecimal text")
struct HexadecimalTests {
    @Test("has two digits for each byte, in either case")
    func text() {
        #expect(Hexadecimal.text(of: [0x00, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
        #expect(Hexadecimal.text(of: [0x00, 0x0F, 0xA0, 0xFF], uppercase: true) == "000FA0FF")
        #expect(Hexadecimal.text(of: []).isEmpty)
    }

    @Test("digits of either case have their value, and nothing else has one")
    func values() {
        for byte in UInt8.min ... .max {
            let digit = Unicode.Scalar(byte).isASCII ? Character(Unicode.Scalar(byte)).hexDigitValue : nil
            #expect(Hexadecimal.value(byte).map(Int.init) == digit, "\(byte)")
        }
    }

    @Test("of random bytes has their length and is another each time")
    func random() {
        #expect(Hexadecimal.random(byteCount: 16).utf8.count == 32)
        #expect(Hexadecimal.random(byteCount: 16) != Hexadecimal.random(byteCount: 16))
    }
}
