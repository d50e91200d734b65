import APNsProtocol

/// The memory of a header set. Two header sets of the same bits are equal as long as the first one lives, since its strings
/// then still own what the bits point to; different bits say nothing.
struct APNsHeaderBits: Equatable {
    private var topic: SIMD2<UInt64>
    private var pushType: SIMD2<UInt64>
    private var collapseID: SIMD2<UInt64>
    private var priority: Int?
    private var expiration: Int64?

    private static let topicOffset = offset(of: \.headers.topic)
    private static let pushTypeOffset = offset(of: \.headers.pushType)
    private static let collapseIDOffset = offset(of: \.headers.collapseID)

    @inline(__always)
    init(_ push: UnsafePointer<APNsPush>) {
        let memory = UnsafeRawPointer(push)
        topic = memory.loadUnaligned(fromByteOffset: Self.topicOffset, as: SIMD2<UInt64>.self)
        pushType = memory.loadUnaligned(fromByteOffset: Self.pushTypeOffset, as: SIMD2<UInt64>.self)
        collapseID = memory.loadUnaligned(fromByteOffset: Self.collapseIDOffset, as: SIMD2<UInt64>.self)
        priority = push.pointee.headers.priority
        expiration = push.pointee.headers.expiration
    }

    /// Where the 16 bytes of a string are, or of what wraps one.
    private static func offset<Value>(of path: KeyPath<APNsPush, Value>) -> Int {
        precondition(MemoryLayout<Value>.size == 16, "a string has another layout than this was written for")
        guard let offset = MemoryLayout<APNsPush>.offset(of: path) else { preconditionFailure("a stored property has an offset") }
        return offset
    }
}
