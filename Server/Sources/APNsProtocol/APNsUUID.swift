#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `apns-id` and its relatives on the wire (Reference/APNs.md#3-2).
public enum APNsUUID {
    /// The text as APNs wants it: 8-4-4-4-12, lower case.
    public static func text(_ uuid: UUID) -> String { uuid.uuidString.lowercased() }

    /// Reads 8-4-4-4-12 hexadecimal digits of either case. Version bits are not checked: APNs makes ids without valid ones.
    public static func parse(_ text: some Sequence<UInt8>) -> UUID? {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var digits = 0
        var position = 0
        for byte in text {
            let isHyphen = position == 8 || position == 13 || position == 18 || position == 23
            position += 1
            if isHyphen {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let value = value(ofDigit: byte), digits < 32 else { return nil }
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(value)
            digits += 1
        }
        guard digits == 32, position == 36 else { return nil }
        return uuid(high: high, low: low)
    }

    @inline(__always)
    private static func value(ofDigit byte: UInt8) -> UInt8? {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    private static func uuid(high: UInt64, low: UInt64) -> UUID {
        let first = high.bigEndian
        let second = low.bigEndian
        return withUnsafeBytes(of: (first, second)) { bytes in
            UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }
}
