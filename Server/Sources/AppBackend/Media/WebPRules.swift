import ServiceErrors

/// WebP (RFC 9649). The file keeps its length, since the first bytes announce it: an `EXIF` chunk is overwritten with the orientation alone,
/// `XMP ` and unknown chunks with zeros under the name `JUNK`, which readers skip. What follows the announced end goes.
struct WebPRules: MetadataRules {
    private enum State: Equatable {
        case file
        case chunk
        case canvas
        case lossy
        case lossless
        case frame
        case exif(length: Int64)
        case ended
    }

    /// How many bytes of an `EXIF` chunk are parsed for the orientation.
    private static let largestExif: Int64 = 65_536

    let name = "WebP"
    let beginning = 12
    private(set) var isChanged = false
    let pixels: PixelLimit
    private var state = State.file
    /// Where the file ends, and the frame of an animation that is being read.
    private var fileEnd: Int64 = 0
    private var frameEnd: Int64?
    private var chunkEnd: Int64 = 0
    private var hasPixels = false

    init(pixels: PixelLimit) { self.pixels = pixels }

    mutating func next(
        _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        let after = position + Int64(bytes.count)
        switch state {
        case .file:
            let length = Int64(bytes.littleEndian(4, 4))
            fileEnd = length + length % 2 + 8
            guard fileEnd >= 20 else { throw malformed("its length") }
            output += bytes
            return chunk(at: after)
        case .chunk: return try chunk(bytes, at: position, into: &output)
        case .canvas:
            try pixels.check(width: bytes.littleEndian(4, 3) + 1, height: bytes.littleEndian(7, 3) + 1)
            // The flag of XMP, the third bit.
            let flags = (bytes.first ?? 0) & ~0x04
            if flags != bytes.first { isChanged = true }
            output.append(flags)
            output += bytes.dropFirst()
            return rest(from: after)
        case .lossy:
            // Only a key frame says its size (RFC 6386, 9.1).
            guard bytes.first.map({ $0 & 1 == 0 }) == true, bytes.dropFirst(3).starts(with: [0x9D, 0x01, 0x2A]) else {
                throw malformed("the picture at byte \(position) is no key frame")
            }
            try pixels.check(width: bytes.littleEndian(6, 2) & 0x3FFF, height: bytes.littleEndian(8, 2) & 0x3FFF)
            output += bytes
            return rest(from: after)
        case .lossless:
            guard bytes.first == 0x2F else { throw malformed("the lossless picture at byte \(position)") }
            let sizes = bytes.littleEndian(1, 4)
            try pixels.check(width: (sizes & 0x3FFF) + 1, height: (sizes >> 14 & 0x3FFF) + 1)
            output += bytes
            return rest(from: after)
        case .frame:
            try pixels.check(width: bytes.littleEndian(6, 3) + 1, height: bytes.littleEndian(9, 3) + 1)
            output += bytes
            return chunk(at: after)
        case .exif(let length):
            let kept = ExifOrientation.data(ExifOrientation.value(in: bytes.prefix(Int(length))) ?? 1)
            let replacement = bytes.count < kept.count ? [] : kept
            let blank = replacement + repeatElement(0, count: bytes.count - replacement.count)
            if !bytes.elementsEqual(blank) { isChanged = true }
            output += blank
            return rest(from: after, action: .blank)
        case .ended: return .dropRest
        }
    }

    func mayEnd(isAtBoundary: Bool) -> Bool { state == .ended && isAtBoundary }

    /// What is left of the chunk, then the next one.
    private mutating func rest(from position: Int64, action: MetadataStep.Action = .pass) -> MetadataStep {
        var step = chunk(at: chunkEnd)
        step.action = action
        step.count = chunkEnd - position
        return step
    }

    /// Reads the chunk at `position`, unless the file ends there.
    private mutating func chunk(at position: Int64) -> MetadataStep {
        if position == frameEnd { frameEnd = nil }
        state = position >= fileEnd && hasPixels ? .ended : .chunk
        return MetadataStep(then: state == .ended ? 0 : 8)
    }

    private mutating func chunk(
        _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        let length = Int64(bytes.littleEndian(4, 4))
        let start = position + 8
        chunkEnd = start + length + length % 2
        guard chunkEnd <= frameEnd ?? fileEnd else { throw malformed("the chunk at byte \(position) is too long") }
        let type = bytes.code(0)
        let sizes: (State, Int64)? =
            switch type {
            case "VP8X" where frameEnd == nil: (.canvas, 10)
            case "VP8 ": (.lossy, 10)
            case "VP8L": (.lossless, 5)
            case "ANMF" where frameEnd == nil: (.frame, 16)
            case "EXIF" where frameEnd == nil: (.exif(length: min(length, Self.largestExif)), 0)
            default: nil
            }
        guard let (next, needed) = sizes else { return self.other(type, bytes, from: start, into: &output) }
        guard length >= needed else { throw malformed("the chunk at byte \(position) is too short") }
        output += bytes
        hasPixels = hasPixels || next == .lossy || next == .lossless
        if next == .frame { frameEnd = chunkEnd }
        state = next
        if case .exif(let length) = next { return MetadataStep(then: Int(length)) }
        return MetadataStep(then: Int(needed))
    }

    private mutating func other(
        _ type: String, _ bytes: ArraySlice<UInt8>, from start: Int64, into output: inout [UInt8]
    ) -> MetadataStep {
        if ["ICCP", "ALPH", "ANIM"].contains(type) {
            output += bytes
            return rest(from: start)
        }
        let name = Array("JUNK".utf8)
        if !bytes.starts(with: name) { isChanged = true }
        output += name + bytes.dropFirst(4)
        return rest(from: start, action: .blank)
    }
}
