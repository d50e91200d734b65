import RichPushModel

/// What a push service calls a device. For APNs: upper-case hexadecimal, whole bytes, 1 to 200 of them.
///
/// It is opaque, may change, is never an identity, and is printed shortened only.
public struct DeviceHandle: Hashable, Sendable {
    /// The canonical form.
    public let text: String

    /// Reads a handle of the platform in any accepted spelling; `nil` when it is malformed.
    public init?(_ text: String, platform: Platform) {
        guard platform == .apns else {
            guard (1...Self.maximumLength).contains(text.utf8.count), !text.unicodeScalars.contains(where: Self.isControl) else {
                return nil
            }
            self.text = text
            return
        }
        let upper = text.uppercased()
        guard (2...400).contains(upper.utf8.count), upper.utf8.count % 2 == 0, upper.utf8.allSatisfy(Self.isHexadecimal) else {
            return nil
        }
        self.text = upper
    }

    /// Keeps a text that is no handle, so that a direct send can count it. What no database and no document can hold is replaced;
    /// that makes no handle of it.
    public init(malformed text: String) {
        self.text = String(text.prefix(Self.maximumLength).map { $0.unicodeScalars.contains(where: Self.isControl) ? "?" : $0 })
    }

    /// Takes a handle from storage, where it is canonical already.
    public init(canonical text: String) { self.text = text }

    /// Bytes of a handle that is not Apple's; most are URLs.
    private static let maximumLength = 4096

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}

extension DeviceHandle: CustomStringConvertible {
    /// The first six characters, which is all that a log may show.
    public var description: String { text.prefix(6) + "…" }
}
