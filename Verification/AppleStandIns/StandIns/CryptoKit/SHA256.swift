// A stand-in for checks on Linux, written from FIPS 180-4: with it the engine takes the branch that it takes on Apple's systems,
// and this package needs no other.
import Foundation

/// The digest of a message.
public struct SHA256Digest: Sequence, Sendable {
    let bytes: [UInt8]

    public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
}

/// SHA-256, in pieces.
public struct SHA256 {
    private static let constants: [UInt32] = Self.primes(64).map { Self.fraction(cbrt(Double($0))) }
    private var state: [UInt32] = Self.primes(8).map { Self.fraction(Double($0).squareRoot()) }
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    public init() {}

    public static func hash(data: some Sequence<UInt8>) -> SHA256Digest {
        var hasher = SHA256()
        hasher.take(Array(data))
        return hasher.finalize()
    }

    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { take(Array(bufferPointer)) }

    public mutating func update(data: some Sequence<UInt8>) { take(Array(data)) }

    public func finalize() -> SHA256Digest {
        var copy = self
        let bits = count * 8
        copy.take([0x80] + [UInt8](repeating: 0, count: (119 - rest.count) % 64))
        copy.take((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) })
        return SHA256Digest(
            bytes: copy.state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } })
    }

    private mutating func take(_ bytes: [UInt8]) {
        count += UInt64(bytes.count)
        rest += bytes
        var start = 0
        while rest.count - start >= 64 {
            mix(rest[start..<start + 64])
            start += 64
        }
        rest.removeFirst(start)
    }

    private mutating func mix(_ block: ArraySlice<UInt8>) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<64 {
            let early = words[index - 15], late = words[index - 2]
            let first = Self.turn(early, 7) ^ Self.turn(early, 18) ^ (early >> 3)
            let second = Self.turn(late, 17) ^ Self.turn(late, 19) ^ (late >> 10)
            words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
        }
        var row = state
        for index in 0..<64 {
            let first = Self.turn(row[4], 6) ^ Self.turn(row[4], 11) ^ Self.turn(row[4], 25)
            let choice = (row[4] & row[5]) ^ (~row[4] & row[6])
            let one = row[7] &+ first &+ choice &+ Self.constants[index] &+ words[index]
            let second = Self.turn(row[0], 2) ^ Self.turn(row[0], 13) ^ Self.turn(row[0], 22)
            let majority = (row[0] & row[1]) ^ (row[0] & row[2]) ^ (row[1] & row[2])
            row = [one &+ second &+ majority, row[0], row[1], row[2], row[3] &+ one, row[4], row[5], row[6]]
        }
        for index in 0..<8 { state[index] = state[index] &+ row[index] }
    }

    private static func turn(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    /// The first 32 bits after the point.
    private static func fraction(_ value: Double) -> UInt32 { UInt32((value - value.rounded(.down)) * 4_294_967_296) }

    private static func primes(_ count: Int) -> [Int] {
        var found: [Int] = []
        var candidate = 2
        while found.count < count {
            if found.allSatisfy({ candidate % $0 != 0 }) { found.append(candidate) }
            candidate += 1
        }
        return found
    }
}
