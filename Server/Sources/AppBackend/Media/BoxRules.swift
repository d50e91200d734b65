import ServiceErrors

/// The ISO base media file format (ISO/IEC 14496-12) and QuickTime: HEIC, MP4, M4A, MOV. The file keeps its length, since tables in it count
/// bytes from its beginning: metadata becomes zeros in a box named `free`, which readers skip.
///
/// In HEIC the items of type `Exif`, `mime` and `uri ` are overwritten where they lie. In a video the boxes `udta`, `meta` and `uuid` go,
/// which hold the place (`©xyz`, `loci`, `com.apple.quicktime.location.ISO6709`); tracks stay as they are, a track of positions too.
struct BoxRules: MetadataRules {
    private enum State: Equatable {
        case header
        /// The length of 64 bits behind the header that is kept here.
        case longHeader([UInt8])
        case directory
        /// Bytes of a box in which items lie.
        case data(end: Int64)
        /// A box that was passed on or emptied as a whole ends here.
        case boxEnd
    }

    /// The largest directory of items.
    private static let largestDirectory: Int64 = 1 << 20
    private static let keptAtTop: Set<String> = [
        "ftyp", "styp", "moov", "moof", "mfra", "mdat", "sidx", "ssix", "pdin", "wide",
    ]
    /// Boxes that hold boxes, and where they stand; an empty place is the file.
    private static let containers: Set<String> = ["/moov", "/moof", "moov/trak", "moof/traf", "trak/mdia"]
    private static let metadata: Set<String> = ["udta", "meta", "uuid", "free", "skip", "loci"]

    let name: String
    let beginning = 8
    private(set) var isChanged = false
    let pixels: PixelLimit
    private let hasItems: Bool
    private var state = State.header
    /// The boxes around the place that is read, with their ends.
    private var around: [(type: String, end: Int64)] = []
    /// Where items lie that have to go, and have not gone: disjoint, the first of the file last.
    private var pending: [HEICDirectory.Extent] = []
    private var box = ""
    private var hasBrand = false

    init(pixels: PixelLimit, hasItems: Bool) {
        self.pixels = pixels
        self.hasItems = hasItems
        name = hasItems ? "HEIC" : "MP4 or QuickTime"
    }

    mutating func next(
        _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        switch state {
        case .header:
            let short = Int64(bytes.bigEndian(0, 4))
            guard short != 1 else {
                state = .longHeader(Array(bytes))
                return MetadataStep(then: 8)
            }
            let end = short == 0 ? around.last?.end ?? .max : position + short
            return try box(Array(bytes), end: end, after: position + 8, into: &output)
        case .longHeader(let head):
            let long = bytes.bigEndian(0, 8)
            guard long <= UInt64(Int64.max / 2) else { throw malformed("the box at byte \(position - 8) is too long") }
            return try box(head + bytes, end: position - 8 + Int64(long), after: position + 8, into: &output)
        case .directory:
            try directory(bytes, at: position, into: &output)
            return header(at: position + Int64(bytes.count))
        case .data(let end): return data(from: position, to: end, into: &output)
        case .boxEnd: return header(at: position)
        }
    }

    func mayEnd(isAtBoundary: Bool) -> Bool {
        // Up to seven bytes behind the last box are no box; they are not stored.
        guard hasBrand, isAtBoundary, pending.isEmpty, around.allSatisfy({ $0.end == .max }) else { return false }
        return switch state {
        case .header, .boxEnd: true
        case .data(let end): end == .max
        case .directory, .longHeader: false
        }
    }
}

extension BoxRules {
    /// Decides by the header of a box, of which the payload begins at `start`.
    private mutating func box(
        _ head: [UInt8], end: Int64, after start: Int64, into output: inout [UInt8]
    ) throws(ServiceError) -> MetadataStep {
        let type = head[...].code(4)
        guard end >= start, end <= around.last?.end ?? .max else {
            throw malformed("the length of the box at byte \(start - Int64(head.count))")
        }
        guard hasBrand || type == "ftyp" else { throw malformed("it does not begin with its brand") }
        hasBrand = true
        if Self.containers.contains("\(around.last?.type ?? "")/\(type)") {
            output += head
            around.append((type, end))
            return header(at: start)
        }
        if hasItems, around.isEmpty, type == "meta" {
            guard end - start <= Self.largestDirectory, end - start >= 4 else { throw malformed("the length of its directory") }
            output += head
            state = .directory
            return MetadataStep(then: Int(end - start))
        }
        if around.isEmpty, type == "mdat" {
            output += head
            return data(from: start, to: end, into: &output)
        }
        return skip(type, head, from: start, to: end, into: &output)
    }

    /// Passes a box on as it is, or empties it.
    private mutating func skip(
        _ type: String, _ head: [UInt8], from start: Int64, to end: Int64, into output: inout [UInt8]
    ) -> MetadataStep {
        let isKept = around.isEmpty ? Self.keptAtTop.contains(type) : !Self.metadata.contains(type) && !type.hasPrefix("\u{A9}")
        state = .boxEnd
        let count = end == .max ? .max : end - start
        guard !isKept else {
            output += head
            return MetadataStep(action: .pass, count: count, then: 0)
        }
        if type != "free" { isChanged = true }
        while let next = pending.last, next.start >= start, next.end <= end { pending.removeLast() }
        output += head[..<4] + Array("free".utf8) + head[8...]
        return MetadataStep(action: .blank, count: count, then: 0)
    }

    /// Reads the next box; leaves the boxes that end at `position`.
    private mutating func header(at position: Int64) -> MetadataStep {
        state = .header
        var blank: Int64 = 0
        while let end = around.last?.end, end - position - blank < 8 {
            // Too little for a box.
            blank = end - position
            around.removeLast()
        }
        return MetadataStep(action: .blank, count: blank, then: 8)
    }

    /// Passes the bytes of a box on, but for those of items that go.
    private mutating func data(from position: Int64, to end: Int64, into output: inout [UInt8]) -> MetadataStep {
        guard position < end else { return header(at: position) }
        state = .data(end: end)
        guard let next = pending.last, next.start >= position, next.end <= end else {
            return MetadataStep(count: end == .max ? .max : end - position, then: 0)
        }
        guard next.start == position else { return MetadataStep(count: next.start - position, then: 0) }
        pending.removeLast()
        return MetadataStep(action: .blank, count: next.end - position, then: 0)
    }

    private mutating func directory(
        _ bytes: ArraySlice<UInt8>, at position: Int64, into output: inout [UInt8]
    ) throws(ServiceError) {
        var directory = HEICDirectory(Array(bytes), at: position)
        do throws(HEICDirectory.Fault) {
            try directory.clean(pixels)
        } catch {
            switch error {
            case .malformed(let place): throw malformed(place)
            case .refused(let error): throw error
            }
        }
        if !directory.bytes.elementsEqual(bytes) { isChanged = true }
        output += directory.bytes
        let end = position + Int64(bytes.count)
        guard directory.extents.allSatisfy({ $0.start >= end }) else {
            throw ServiceError(
                .unsupportedContent,
                "metadata of this HEIC file stands before its directory, where it cannot be removed; store it as JPEG")
        }
        pending = Self.disjoint(pending + directory.extents)
    }

    /// The same bytes without overlaps, the first of the file last.
    private static func disjoint(_ extents: [HEICDirectory.Extent]) -> [HEICDirectory.Extent] {
        var joined: [HEICDirectory.Extent] = []
        for extent in extents.sorted(by: { $0.start < $1.start }) {
            if let last = joined.last, extent.start < last.end {
                joined[joined.count - 1].end = max(last.end, extent.end)
            } else {
                joined.append(extent)
            }
        }
        return joined.reversed()
    }
}
