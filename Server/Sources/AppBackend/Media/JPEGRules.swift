import ServiceErrors

/// JPEG (ITU-T T.81, annex B): keeps what decoding needs, the colour profile and the orientation. All other application segments go, and
/// comments, and what follows the end of the picture: previews, depth maps and videos that cameras append, with EXIF data of their own.
///
/// A file that ends within its coded pixels is stored: decoders show what there is, and every segment before them was filtered.
struct JPEGRules: MetadataRules {
    private enum State: Equatable {
        case start
        case marker
        /// A byte of filling stood before a marker.
        case filling
        case length(UInt8)
        case payload(UInt8)
        case ended
    }

    let name = "JPEG"
    let beginning = 2
    private(set) var isChanged = false
    let pixels: PixelLimit
    private var state = State.start
    private var hasFrame = false
    private var hasScan = false
    /// Whether coded pixels come next.
    private var isInScan = false
    private var hasOrientation = false

    init(pixels: PixelLimit) { self.pixels = pixels }

    mutating func next(
        _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        switch state {
        case .start:
            guard bytes.elementsEqual([0xFF, 0xD8]) else { throw malformed("it does not begin with a picture") }
            output += bytes
            state = .marker
            return MetadataStep(then: 2)
        case .marker:
            guard bytes.first == 0xFF, let code = bytes.last else { throw malformed("expected a marker at byte \(position)") }
            return try marker(code, at: position, into: &output)
        case .filling: return try marker(bytes.first ?? 0, at: position, into: &output)
        case .length(let code):
            let length = Int(bytes.bigEndian(0, 2))
            guard length >= 2 else { throw malformed("a segment at byte \(position) has a length below 2") }
            return segment(code, length, bytes, into: &output)
        case .payload(let code):
            try payload(code, bytes, at: position, into: &output)
            state = .marker
            return MetadataStep(action: isInScan ? .passUntilMarker : .pass, then: 2)
        case .ended: return .dropRest
        }
    }

    func mayEnd(isAtBoundary: Bool) -> Bool { isInScan || (state == .ended && isAtBoundary) }

    private mutating func marker(
        _ code: UInt8, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        isInScan = false
        switch code {
        case 0xFF:
            isChanged = true
            state = .filling
            return MetadataStep(then: 1)
        case 0xD9:
            guard hasScan else { throw malformed("it has no pixels") }
            output += [0xFF, 0xD9]
            state = .ended
            return MetadataStep(then: 0)
        case 0x00, 0x01, 0xD0...0xD8: throw malformed("an unexpected marker at byte \(position)")
        default:
            state = .length(code)
            return MetadataStep(then: 2)
        }
    }

    /// Decides by the marker of a segment; `length` counts its own two bytes.
    private mutating func segment(
        _ code: UInt8, _ length: Int, _ bytes: ArraySlice<UInt8>, into output: inout [UInt8]
    ) -> MetadataStep {
        switch code {
        // Those of which the beginning decides, and those that say the size of the picture.
        case 0xE0, 0xE1, 0xE2, 0xEE, 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF, 0xDE, 0xDA:
            state = .payload(code)
            return MetadataStep(then: length - 2)
        // Tables, and what else decoding needs.
        case 0xC4, 0xCC, 0xDB, 0xDC, 0xDD, 0xDF:
            output += [0xFF, code] + bytes
            state = .marker
            return MetadataStep(count: Int64(length - 2), then: 2)
        default:
            isChanged = true
            state = .marker
            return MetadataStep(action: .drop, count: Int64(length - 2), then: 2)
        }
    }

    private mutating func payload(
        _ code: UInt8, _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) {
        let replacement: [UInt8]?
        switch code {
        case 0xE0: replacement = Self.plainJFIF(bytes)
        case 0xE1: replacement = orientation(bytes)
        case 0xE2: replacement = bytes.starts(with: Array("ICC_PROFILE".utf8) + [0]) ? Array(bytes) : nil
        case 0xEE: replacement = bytes.starts(with: Array("Adobe".utf8)) ? Array(bytes.prefix(12)) : nil
        case 0xDA: replacement = try scan(bytes)
        default: replacement = try frame(bytes, at: position)
        }
        if replacement.map({ !bytes.elementsEqual($0) }) ?? true { isChanged = true }
        guard let replacement else { return }
        let length = replacement.count + 2
        output += [0xFF, code, UInt8(length >> 8), UInt8(length & 0xFF)] + replacement
    }

    /// The JFIF header without the small picture that it may hold.
    private static func plainJFIF(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard bytes.count >= 14, bytes.starts(with: Array("JFIF".utf8) + [0]) else { return nil }
        return Array(bytes.prefix(12)) + [0, 0]
    }

    private mutating func orientation(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard !hasOrientation, bytes.starts(with: ExifOrientation.mark), let value = ExifOrientation.value(in: bytes), value != 1
        else { return nil }
        hasOrientation = true
        return ExifOrientation.mark + ExifOrientation.data(value)
    }

    private mutating func frame(_ bytes: ArraySlice<UInt8>, at position: Int64) throws(ServiceError) -> [UInt8] {
        guard bytes.count >= 6 else { throw malformed("the frame header at byte \(position) is too short") }
        let (height, width) = (bytes.bigEndian(1, 2), bytes.bigEndian(3, 2))
        guard height > 0, width > 0 else { throw malformed("its width or height is 0") }
        try pixels.check(width: width, height: height)
        hasFrame = true
        return Array(bytes)
    }

    private mutating func scan(_ bytes: ArraySlice<UInt8>) throws(ServiceError) -> [UInt8] {
        guard hasFrame else { throw malformed("pixels stand before the size of the picture") }
        hasScan = true
        isInScan = true
        return Array(bytes)
    }
}
