/// Reads the parts of a written date, byte by byte.
public struct TimeScanner {
    private let bytes: [UInt8]
    private var index = 0

    /// Begins a text, without the blanks around it.
    public init(_ text: some StringProtocol) { bytes = Array(text.trimmingBlanks.utf8.prefix(64)) }

    /// Whether nothing is left.
    public var isAtEnd: Bool { index == bytes.count }

    /// Exactly so many digits as a number.
    public mutating func digits(_ count: Int) -> Int? {
        guard index + count <= bytes.count else { return nil }
        var number = 0
        for byte in bytes[index..<index + count] {
            guard let digit = Self.digit(byte) else { return nil }
            number = number * 10 + digit
        }
        index += count
        return number
    }

    /// One character, if it comes next.
    public mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
        index += 1
        return true
    }

    /// A word of ASCII, if it comes next.
    public mutating func skip(word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }

    /// `T`, `t`, a blank, or a `T` in quotes as one client writes it (Reference/AzureNotificationHubs.md#2-8).
    public mutating func skipDateSeparator() -> Bool {
        let quote: Unicode.Scalar = "'"
        if skip(quote) { return (skip("T") || skip("t")) && skip(quote) }
        return skip("T") || skip("t") || skip(" ")
    }

    /// `.871` or `,8710000` in milliseconds, the rest cut off; 0 when there is none; `nil` when the digits are missing.
    public mutating func fraction() -> Int? {
        guard skip(".") || skip(",") else { return 0 }
        var milliseconds = 0
        var count = 0
        while index < bytes.count, let digit = Self.digit(bytes[index]) {
            if count < 3 { milliseconds = milliseconds * 10 + digit }
            count += 1
            index += 1
        }
        guard count > 0 else { return nil }
        for _ in count..<max(3, count) { milliseconds *= 10 }
        return milliseconds
    }

    /// Minutes east of UTC: nothing or `Z` is 0; `+01:00`, `-0130`, `+02`.
    public mutating func zone() -> Int? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = digits(2), hours <= 18 else { return nil }
        _ = skip(":")
        guard !isAtEnd else { return sign * hours * 60 }
        guard let minutes = digits(2), minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }

    private static func digit(_ byte: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }
}
