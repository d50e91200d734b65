/// Bytes as lower-case hexadecimal text.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(of bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0x0F)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Random bytes from the system's generator as text.
    static func random(byteCount: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return text(of: (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
