import ServiceErrors

/// GIF (89a): comments go, and all application extensions but those for repeating (`NETSCAPE2.0`, `ANIMEXTS1.0`) and for the colour
/// profile (`ICCRGBG1012`), and what follows the end.
struct GIFRules: MetadataRules {
    private enum State: Equatable {
        case header
        case block
        case label
        case applicationLength
        case application
        case image
        case codeSize
        /// The length of a piece of data; the pieces are stored or go.
        case piece(isKept: Bool)
        case ended
    }

    private static let keptApplications: Set<String> = ["NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"]

    let name = "GIF"
    let beginning = 13
    private(set) var isChanged = false
    let pixels: PixelLimit
    private var state = State.header

    init(pixels: PixelLimit) { self.pixels = pixels }

    mutating func next(
        _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        let first = bytes.first ?? 0
        switch state {
        case .header:
            try pixels.check(width: bytes.littleEndian(6, 2), height: bytes.littleEndian(8, 2))
            output += bytes
            state = .block
            return MetadataStep(count: Self.paletteSize(bytes.littleEndian(10, 1)), then: 1)
        case .block: return try block(first, at: position, into: &output)
        case .label: return label(first, into: &output)
        case .applicationLength:
            state = first == 11 ? .application : .piece(isKept: false)
            if first == 11 { return MetadataStep(then: 11) }
            isChanged = true
            return first == 0 ? block() : MetadataStep(action: .drop, count: Int64(first), then: 1)
        case .application:
            let isKept = Self.keptApplications.contains(String(decoding: bytes, as: UTF8.self))
            if isKept { output += [0x21, 0xFF, 11] + bytes } else { isChanged = true }
            state = .piece(isKept: isKept)
            return MetadataStep(then: 1)
        case .image:
            try pixels.check(width: bytes.littleEndian(4, 2), height: bytes.littleEndian(6, 2))
            output += bytes
            state = .codeSize
            return MetadataStep(count: Self.paletteSize(bytes.littleEndian(8, 1)), then: 1)
        case .codeSize:
            output += bytes
            state = .piece(isKept: true)
            return MetadataStep(then: 1)
        case .piece(let isKept):
            if isKept { output += bytes }
            guard first > 0 else { return block() }
            return MetadataStep(action: isKept ? .pass : .drop, count: Int64(first), then: 1)
        case .ended: return .dropRest
        }
    }

    func mayEnd(isAtBoundary: Bool) -> Bool { state == .ended && isAtBoundary }

    private mutating func block() -> MetadataStep {
        state = .block
        return MetadataStep(then: 1)
    }

    private mutating func block(
        _ introducer: UInt8, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        switch introducer {
        case 0x21:
            state = .label
            return MetadataStep(then: 1)
        case 0x2C:
            output.append(introducer)
            state = .image
            return MetadataStep(then: 9)
        case 0x3B:
            output.append(introducer)
            state = .ended
            return MetadataStep(then: 0)
        default: throw malformed("an unknown block at byte \(position)")
        }
    }

    private mutating func label(_ label: UInt8, into output: inout [UInt8]) -> MetadataStep {
        switch label {
        case 0xFF: state = .applicationLength
        // The timing of a picture, and text that is drawn.
        case 0xF9, 0x01:
            output += [0x21, label]
            state = .piece(isKept: true)
        default:
            isChanged = true
            state = .piece(isKept: false)
        }
        return MetadataStep(then: 1)
    }

    /// The bytes of the palette that the flags announce.
    private static func paletteSize(_ flags: UInt64) -> Int64 { flags & 0x80 == 0 ? 0 : 3 << (Int64(flags & 7) + 1) }
}
