import RichPushModel
import ServiceErrors

/// Removes metadata from a picture or a video while it is uploaded: where and when it was taken, with what, by whom.
///
/// Pixels are never decoded. Orientation and colour stay. Memory is bounded by the largest structure that a format has to be read as a
/// whole: 64 KiB, or 1 MiB for the directory of a HEIC file. A file that does not follow its format is refused, since nothing could be
/// promised about what is in it; `Documentation/Content.md` lists what is removed.
struct MetadataFilter {
    private var rules: any MetadataRules
    private var step: MetadataStep
    /// How many bytes of `step.count` were handled.
    private var handled: Int64 = 0
    private var pending: [UInt8] = []
    /// Where in the file the first byte of `pending` stands.
    private var position: Int64 = 0
    private var isAltered = false

    /// `nil` for formats that are stored as they come.
    init?(format: MediaFormat, pixelLimit: Int64) {
        let pixels = PixelLimit(limit: pixelLimit)
        switch format {
        case .jpeg: rules = JPEGRules(pixels: pixels)
        case .png: rules = PNGRules(pixels: pixels)
        case .gif: rules = GIFRules(pixels: pixels)
        case .webp: rules = WebPRules(pixels: pixels)
        case .heic: rules = BoxRules(pixels: pixels, hasItems: true)
        case .mp4, .m4a, .quickTime: rules = BoxRules(pixels: pixels, hasItems: false)
        case .mp3, .wav, .aiff, .caf, .mpeg, .pdf, .json, .uriList, .plainText, .sealed: return nil
        }
        step = MetadataStep(then: rules.beginning)
    }

    /// Whether the bytes that came out are others than those that went in.
    var isChanged: Bool { isAltered || rules.isChanged }

    /// Takes a chunk; returns what is to be stored of it and of what was held back before. Throws `unsupported-content` for a file that
    /// does not follow its format, and `content-too-large` for too many pixels.
    mutating func take(_ chunk: [UInt8]) throws(ServiceError) -> [UInt8] {
        pending += chunk
        var output: [UInt8] = []
        output.reserveCapacity(pending.count)
        var index = 0
        while try advance(&index, &output) {}
        pending.removeFirst(index)
        return output
    }

    /// Says that no more comes; returns what was held back.
    mutating func end() throws(ServiceError) -> [UInt8] {
        guard rules.mayEnd(isAtBoundary: handled == step.count || step.count == .max) else {
            throw ServiceError(.unsupportedContent, "the \(rules.name) file is cut off, or its lengths are wrong")
        }
        if step.action == .passUntilMarker { return pending }
        isAltered = isAltered || !pending.isEmpty
        return []
    }

    /// Does what can be done with the bytes from `index` on; false when it needs more of them.
    private mutating func advance(_ index: inout Int, _ output: inout [UInt8]) throws(ServiceError) -> Bool {
        if step.action == .passUntilMarker {
            guard passUntilMarker(&index, &output) else { return false }
            step = MetadataStep(then: step.then)
        }
        let count = min(step.count - handled, Int64(pending.count - index))
        if count > 0 { run(pending[index..<(index + Int(count))], &output) }
        index += Int(count)
        handled += count
        position += count
        guard handled == step.count, pending.count - index >= step.then else { return false }
        let bytes = pending[index..<(index + step.then)]
        step = try rules.next(bytes, at: position, into: &output)
        handled = 0
        index += bytes.count
        position += Int64(bytes.count)
        return true
    }

    private mutating func run(_ bytes: ArraySlice<UInt8>, _ output: inout [UInt8]) {
        switch step.action {
        case .pass, .passUntilMarker: output += bytes
        case .drop: isAltered = true
        case .blank:
            if !isAltered { isAltered = bytes.contains { $0 != 0 } }
            output += repeatElement(0, count: bytes.count)
        }
    }

    /// Passes the coded pixels of a JPEG on; true when `index` is at the marker behind them.
    private mutating func passUntilMarker(_ index: inout Int, _ output: inout [UInt8]) -> Bool {
        let start = index
        defer {
            output += pending[start..<index]
            position += Int64(index - start)
        }
        while let found = pending[index...].firstIndex(of: 0xFF) {
            index = found
            guard found + 1 < pending.count else { return false }
            switch pending[found + 1] {
            case 0x00, 0xD0...0xD7: index = found + 2
            case 0xFF: index = found + 1
            default: return true
            }
        }
        index = pending.count
        return false
    }
}

/// What to do with the next bytes of a file, then how many to read as a whole.
struct MetadataStep {
    enum Action {
        case pass
        case drop
        /// Write as many zeros.
        case blank
        /// Pass coded pixels of a JPEG, up to the next marker; `count` is not used.
        case passUntilMarker
    }

    var action = Action.pass
    var count: Int64 = 0
    var then: Int

    /// Drops all that follows, which no reader of the format looks at.
    static let dropRest = MetadataStep(action: .drop, count: .max, then: 0)
}

/// The rules of one format, as a state machine without I/O.
protocol MetadataRules {
    /// What the format is called in errors.
    var name: String { get }

    /// How many bytes to read first.
    var beginning: Int { get }

    /// Whether bytes were replaced by others.
    var isChanged: Bool { get }

    /// Decides about the bytes that the step before asked for, of which the first stands at `position`; writes what is to be stored in
    /// their place. Every step moves on in the file or is the last.
    mutating func next(
        _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep

    /// Whether the file may end now. `isAtBoundary` is false when less came than the last step announced.
    func mayEnd(isAtBoundary: Bool) -> Bool
}

extension MetadataRules {
    /// The error for a file that breaks its format; `place` says where.
    func malformed(_ place: String) -> ServiceError {
        ServiceError(.unsupportedContent, "the \(name) file is malformed: \(place)")
    }
}

/// How many pixels a picture may have: what a phone has to hold in memory to show it, however few bytes it has.
struct PixelLimit {
    let limit: Int64

    func check(width: some BinaryInteger, height: some BinaryInteger) throws(ServiceError) {
        let (pixels, overflow) = Int64(width).multipliedReportingOverflow(by: Int64(height))
        guard !overflow, pixels <= limit else {
            throw ServiceError(
                .contentTooLarge,
                "a picture has at most \(limit) pixels (width times height), and this one has \(width) x \(height)")
        }
    }
}

extension ArraySlice<UInt8> {
    /// The unsigned number in `count` bytes, at most 8, from `offset` on, the highest first.
    func bigEndian(_ offset: Int, _ count: Int) -> UInt64 {
        self[(startIndex + offset)..<(startIndex + offset + count)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The same with the lowest byte first.
    func littleEndian(_ offset: Int, _ count: Int) -> UInt64 {
        self[(startIndex + offset)..<(startIndex + offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A code of four letters.
    func code(_ offset: Int) -> String {
        String(self[(startIndex + offset)..<(startIndex + offset + 4)].map { Character(Unicode.Scalar($0)) })
    }
}
