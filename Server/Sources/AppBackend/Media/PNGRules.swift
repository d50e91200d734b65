import ServiceErrors

/// PNG (third edition, with APNG): keeps the chunks that decoding, colour, animation and pixel density need. An `eXIf` chunk is reduced to
/// the orientation; other chunks that a decoder may skip go, and what follows the end.
struct PNGRules: MetadataRules {
    private enum State: Equatable {
        case signature
        case chunk
        case header
        case exif
        case ended
    }

    /// The largest `eXIf` chunk that is parsed; a larger one is dropped with its orientation.
    private static let largestExif = 65_536
    private static let kept: Set<String> = [
        "PLTE", "IDAT", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "mDCv", "cLLi", "bKGD", "hIST",
        "pHYs",
        "sPLT", "acTL", "fcTL", "fdAT", "CgBI",
    ]

    let name = "PNG"
    let beginning = 8
    private(set) var isChanged = false
    let pixels: PixelLimit
    private var state = State.signature
    private var hasHeader = false
    private var hasPixels = false

    init(pixels: PixelLimit) { self.pixels = pixels }

    mutating func next(
        _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        switch state {
        case .signature:
            output += bytes
            state = .chunk
            return MetadataStep(then: 8)
        case .chunk: return try chunk(bytes, at: position, into: &output)
        case .header:
            let (width, height) = (bytes.bigEndian(0, 4), bytes.bigEndian(4, 4))
            guard width > 0, height > 0 else { throw malformed("its width or height is 0") }
            try pixels.check(width: width, height: height)
            output += bytes
            state = .chunk
            return MetadataStep(then: 8)
        case .exif:
            let data = bytes.dropLast(4)
            let replacement = ExifOrientation.value(in: data).flatMap { $0 == 1 ? nil : Self.exifChunk($0) } ?? []
            if !replacement.dropFirst(8).elementsEqual(bytes) { isChanged = true }
            output += replacement
            state = .chunk
            return MetadataStep(then: 8)
        case .ended: return .dropRest
        }
    }

    func mayEnd(isAtBoundary: Bool) -> Bool { state == .ended && isAtBoundary }

    private mutating func chunk(
        _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        let length = Int64(bytes.bigEndian(0, 4))
        let type = bytes.code(4)
        guard length <= Int64(Int32.max) else { throw malformed("the chunk at byte \(position) is too long") }
        guard hasHeader || type == "IHDR" || type == "CgBI" else { throw malformed("it does not begin with its header") }
        switch type {
        case "IHDR":
            guard !hasHeader, length == 13 else { throw malformed("its header") }
            hasHeader = true
            output += bytes
            state = .header
            return MetadataStep(then: 17)
        case "IEND":
            guard hasPixels, length == 0 else { throw malformed("its end comes too early") }
            output += bytes
            state = .ended
            return MetadataStep(count: 4, then: 0)
        case "eXIf" where length <= Int64(Self.largestExif):
            state = .exif
            return MetadataStep(then: Int(length) + 4)
        case _ where Self.kept.contains(type):
            hasPixels = hasPixels || type == "IDAT"
            output += bytes
            return MetadataStep(count: length + 4, then: 8)
        default:
            // The case of the first letter says whether a decoder may skip the chunk (PNG, 5.4).
            guard bytes.dropFirst(4).allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) }),
                (bytes.dropFirst(4).first ?? 0) & 0x20 != 0
            else {
                throw malformed("the chunk at byte \(position) has an unknown type")
            }
            isChanged = true
            return MetadataStep(action: .drop, count: length + 4, then: 8)
        }
    }

    private static func exifChunk(_ orientation: UInt8) -> [UInt8] {
        let body = Array("eXIf".utf8) + ExifOrientation.data(orientation)
        let sum = checksum(body)
        return [0, 0, 0, UInt8(ExifOrientation.byteCount)] + body
            + stride(from: 24, through: 0, by: -8).map { UInt8(sum >> $0 & 0xFF) }
    }

    /// CRC-32 as in PNG, annex D.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }
}

/// The one fact of EXIF data that a picture needs to be shown right: which way up it is.
enum ExifOrientation {
    /// How many bytes `data` returns.
    static let byteCount = 26

    /// The orientation, 1 to 8, of EXIF data: a TIFF header with its first directory (EXIF 2.32, 4.6.4), with or without the word `Exif` in
    /// front. `nil` when it has none or cannot be read.
    static func value(in data: ArraySlice<UInt8>) -> UInt8? {
        let tiff = data.starts(with: mark) ? data.dropFirst(mark.count) : data
        guard tiff.count >= 8 else { return nil }
        let isLittle = tiff.starts(with: [0x49, 0x49, 42, 0])
        guard isLittle || tiff.starts(with: [0x4D, 0x4D, 0, 42]) else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int {
            Int(isLittle ? tiff.littleEndian(offset, count) : tiff.bigEndian(offset, count))
        }
        let directory = number(4, 4)
        guard directory <= tiff.count - 2 else { return nil }
        for index in 0..<number(directory, 2) {
            let entry = directory + 2 + index * 12
            guard entry + 12 <= tiff.count else { return nil }
            guard number(entry, 2) == 0x0112 else { continue }
            let value = number(entry + 8, 2)
            return number(entry + 2, 2) == 3 && (1...8).contains(value) ? UInt8(value) : nil
        }
        return nil
    }

    /// EXIF data that says the orientation and nothing else, without the word `Exif`.
    static func data(_ value: UInt8) -> [UInt8] {
        [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0]
    }

    /// What stands in front of EXIF data in a JPEG.
    static let mark: [UInt8] = Array("Exif".utf8) + [0, 0]
}
