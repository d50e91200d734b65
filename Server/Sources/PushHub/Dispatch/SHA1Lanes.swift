/// SHA-1 of eight messages with the same beginning at once, a lane of a vector each.
///
/// For the names of pushes (RFC 9562, 5.5), of which a broadcast needs one for each device: a digest of the library takes memory for
/// each, and that is more work than the hashing. Nothing is protected by it; digests that protect something are the library's.
struct SHA1Lanes: ~Copyable {
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
