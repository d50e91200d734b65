/// The digits of a device token where they lie: many tokens share one piece of memory, so that a batch of a thousand pushes makes no
/// text for each.
public struct APNsDeviceToken: Hashable, Sendable {
    @usableFromInline let bytes: [UInt8]
    @usableFromInline let start: UInt32
    @usableFromInline let end: UInt32

    /// Takes the bytes in this range. They are not copied, and stay in memory as long as the token does.
    public init(in bytes: [UInt8], at range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count && bytes.count <= Int(UInt32.max))
        self.bytes = bytes
        start = UInt32(range.lowerBound)
        end = UInt32(range.upperBound)
    }

    /// Copies a text.
    public init(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(in: bytes, at: bytes.indices)
    }

    /// How many digits it has, if it is one.
    @inlinable
    public var count: Int { Int(end - start) }

    /// The token as a text.
    public var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    /// The bytes where they lie. Visible to other modules with its text, since it is called for every push.
    @inlinable
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            try body(UnsafeBufferPointer(rebasing: bytes[Int(start)..<Int(end)]))
        }
    }

    public static func == (left: APNsDeviceToken, right: APNsDeviceToken) -> Bool {
        left.count == right.count && left.withBytes { left in right.withBytes { left.elementsEqual($0) } }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
