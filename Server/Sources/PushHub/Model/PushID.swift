import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The `apns-id` of a push: UUID version 5 of notification and target, so that a retry carries the same id.
public struct PushID: Hashable, Sendable {
    public let uuid: UUID

    /// Creates an id from a UUID.
    public init(_ uuid: UUID) { self.uuid = uuid }

    /// The id of the push of this notification to this record (RFC 9562, 5.5; name space: the notification).
    public init(notification: NotificationID, record: RecordID) { self.init(notification: notification, target: record.text) }

    /// The id of the push of this notification to this handle, in a send to handles.
    public init(notification: NotificationID, handle: DeviceToken) {
        self.init(notification: notification, target: Naming.target(handle))
    }

    private init(notification: NotificationID, target: String) {
        self = Naming(notification).id(of: target)
    }

    /// Of the first sixteen bytes of a digest, with the marks of version and variant (RFC 9562, 5.5).
    fileprivate init(digest bytes: UnsafeRawBufferPointer) {
        uuid = UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6] & 0x0F | 0x50, bytes[7],
                bytes[8] & 0x3F | 0x80, bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}

extension PushID {
    /// Makes the ids of one notification's pushes, for many targets at once.
    struct Naming {
        private let start: [UInt8]

        init(_ notification: NotificationID) { start = Array(notification.text.utf8) + [0] }

        /// The ids of the targets at these places, in that order.
        func ids(of page: TargetPage, _ places: [Int]) -> [PushID] {
            var ids: [PushID] = []
            ids.reserveCapacity(places.count)
            var lanes = SHA1Lanes(start: start)
            for place in places {
                let isTaken = page.withRecordBytes(place) { name in
                    if lanes.add(name) { return true }
                    // Full, or of another length than those that wait.
                    lanes.drain { ids.append(PushID(digest: $0)) }
                    return lanes.add(name)
                }
                guard isTaken != true else { continue }
                lanes.drain { ids.append(PushID(digest: $0)) }
                ids.append(id(of: page.record(place)?.text ?? Self.target(page.handle(place))))
            }
            lanes.drain { ids.append(PushID(digest: $0)) }
            return ids
        }

        /// What stands for a handle in a send to handles: no record has such a name.
        fileprivate static func target(_ handle: DeviceToken) -> String { "handle " + handle.text }

        fileprivate func id(of target: String) -> PushID {
            var hash = Insecure.SHA1()
            hash.update(data: start)
            hash.update(data: Array(target.utf8))
            return hash.finalize().withUnsafeBytes { PushID(digest: $0) }
        }
    }
}

/// SHA-1 of eight messages with the same beginning at once, a lane of a vector each.
///
/// For the names of pushes (RFC 9562, 5.5), of which a broadcast needs one for each device: a digest of the library takes memory for
/// each, and that is more work than the hashing. Nothing is protected by it; digests that protect something are the library's.
private struct SHA1Lanes: ~Copyable {
    private typealias Words = SIMD8<UInt32>

    static let count = 8
    /// Longer messages are not taken: two blocks hold a notification's id and a record's.
    static let maximumLength = 2 * block - 9
    private static let block = 64

    private let start: [UInt8]
    /// The messages, padded, two blocks each.
    private let blocks: UnsafeMutableRawBufferPointer
    /// How many messages there are.
    private var taken = 0
    /// How many blocks each of them has.
    private var length = 0

    /// Prepares for messages that begin with `start`.
    init(start: [UInt8]) {
        self.start = start
        blocks = .allocate(byteCount: Self.count * 2 * Self.block, alignment: 16)
        blocks.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { blocks.deallocate() }

    var isFull: Bool { taken == Self.count }

    /// Takes the message of the beginning and `rest`; `false` when it is too long or of another number of blocks than those that
    /// wait, which have to be drained first.
    mutating func add(_ rest: UnsafeRawBufferPointer) -> Bool {
        let size = start.count + rest.count
        let needed = size <= Self.block - 9 ? 1 : 2
        guard size <= Self.maximumLength, !isFull, taken == 0 || needed == length else { return false }
        length = needed
        let message = UnsafeMutableRawBufferPointer(
            rebasing: blocks[(taken * 2 * Self.block)..<(taken * 2 * Self.block + needed * Self.block)])
        message.copyBytes(from: start)
        UnsafeMutableRawBufferPointer(rebasing: message[start.count...]).copyBytes(from: rest)
        message[size] = 0x80
        UnsafeMutableRawBufferPointer(rebasing: message[(size + 1)...]).initializeMemory(as: UInt8.self, repeating: 0)
        message.storeBytes(of: UInt64(size * 8).bigEndian, toByteOffset: message.count - 8, as: UInt64.self)
        taken += 1
        return true
    }

    /// Hands out the first sixteen bytes of the digest of each message, in order, and forgets them.
    mutating func drain(_ body: (UnsafeRawBufferPointer) -> Void) {
        guard taken > 0 else { return }
        var state = State()
        for block in 0..<length { state.absorb { word, lane in self.word(word, of: block, in: lane) } }
        for lane in 0..<taken {
            let digest = SIMD4<UInt32>(
                state.a[lane].bigEndian, state.b[lane].bigEndian, state.c[lane].bigEndian, state.d[lane].bigEndian)
            withUnsafeBytes(of: digest, body)
        }
        taken = 0
    }

    @inline(__always)
    private func word(_ word: Int, of block: Int, in lane: Int) -> UInt32 {
        let offset = (lane * 2 + block) * Self.block + word * 4
        return UInt32(bigEndian: blocks.load(fromByteOffset: offset, as: UInt32.self))
    }
}

extension SHA1Lanes {
    /// The five words of the digests, by lane (FIPS 180-4, 6.1).
    private struct State {
        var a = Words(repeating: 0x6745_2301)
        var b = Words(repeating: 0xEFCD_AB89)
        var c = Words(repeating: 0x98BA_DCFE)
        var d = Words(repeating: 0x1032_5476)
        var e = Words(repeating: 0xC3D2_E1F0)

        /// Takes in one block of each lane; `word` reads one word of it.
        @inline(__always)
        mutating func absorb(_ word: (Int, Int) -> UInt32) {
            let before = self
            withUnsafeTemporaryAllocation(of: Words.self, capacity: 80) { schedule in
                for index in 0..<16 {
                    schedule[index] = Words(
                        word(index, 0), word(index, 1), word(index, 2), word(index, 3), word(index, 4), word(index, 5),
                        word(index, 6), word(index, 7))
                }
                for index in 16..<80 {
                    let mixed = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
                    schedule[index] = Self.rotated(mixed, by: 1)
                }
                for index in 0..<20 { turn(d ^ (b & (c ^ d)), 0x5A82_7999, schedule[index]) }
                for index in 20..<40 { turn(b ^ c ^ d, 0x6ED9_EBA1, schedule[index]) }
                for index in 40..<60 { turn((b & c) | (d & (b | c)), 0x8F1B_BCDC, schedule[index]) }
                for index in 60..<80 { turn(b ^ c ^ d, 0xCA62_C1D6, schedule[index]) }
            }
            a &+= before.a
            b &+= before.b
            c &+= before.c
            d &+= before.d
            e &+= before.e
        }

        @inline(__always)
        private mutating func turn(_ choice: Words, _ constant: UInt32, _ word: Words) {
            let sum = Self.rotated(a, by: 5) &+ choice &+ e &+ Words(repeating: constant) &+ word
            (e, d, c, b, a) = (d, c, Self.rotated(b, by: 30), a, sum)
        }

        /// A product and a sum instead of a shift and an `or`: those the compiler takes for a rotation, and that it does word by word.
        @inline(__always)
        private static func rotated(_ words: Words, by bits: UInt32) -> Words {
            (words &* Words(repeating: 1 &<< bits)) &+ (words &>> Words(repeating: 32 - bits))
        }
    }
}
