extension SliceKey {
    /// The key as a continuation token: 16 hexadecimal digits, because clients do not escape it
    /// (Reference/AzureNotificationHubs.md#0-11).
    public var token: String {
        let digits = String(UInt64(bitPattern: number), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Reads a token; `nil` for anything else.
    public init?(token: String) {
        guard token.utf8.count == 16, token.utf8.allSatisfy(Self.isDigit), let bits = UInt64(token, radix: 16) else { return nil }
        self.init(Int64(bitPattern: bits))
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}
