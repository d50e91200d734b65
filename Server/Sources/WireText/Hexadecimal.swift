/// Bytes as hexadecimal text.
public enum Hexadecimal {
    /// Two digits for each byte.
    public static func text(of bytes: some Sequence<UInt8>, uppercase: Bool = false) -> String {
        let letters = uppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            for value in [byte >> 4, byte & 0x0F] { text.append(value < 10 ? UInt8(ascii: "0") + value : letters + value - 10) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Random bytes from the system's generator as text.
    public static func random(byteCount: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return text(of: (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// What a digit of either case stands for; `nil` for any other byte.
    @inlinable
    public static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
