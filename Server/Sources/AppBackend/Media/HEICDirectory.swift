import ServiceErrors

/// The `meta` box of a HEIC file (ISO/IEC 23008-12): finds the items that are metadata, overwrites those that lie in the box itself and says
/// where the others lie. The box keeps its length.
struct HEICDirectory {
    enum Fault: Error {
        /// What breaks the format.
        case malformed(String)
        case refused(ServiceError)
    }

    /// Bytes of the file that have to go.
    struct Extent {
        var start: Int64
        var end: Int64
    }

    /// The most extents of items that are parsed.
    private static let mostExtents = 65_536
    private static let kept: Set<String> = ["hdlr", "dinf", "pitm", "iinf", "iloc", "iref", "iprp", "idat", "grpl", "ipro"]
    private static let metadataItems: Set<String> = ["Exif", "mime", "uri "]
    /// Properties that describe: words of a user, times, extensions.
    private static let describing: Set<String> = ["udes", "crtt", "mdft", "uuid"]

    /// The payload of the box as it is to be stored.
    private(set) var bytes: [UInt8]
    /// Where outside of the box bytes have to go.
    private(set) var extents: [Extent] = []
    private let position: Int64
    private var itemTypes: [UInt64: String] = [:]
    private var itemData: Range<Int>?
    /// Bytes of `itemData` that were emptied.
    private var emptied: UInt64 = 0

    init(_ bytes: [UInt8], at position: Int64) {
        self.bytes = bytes
        self.position = position
    }

    mutating func clean(_ pixels: PixelLimit) throws(Fault) {
        // Behind version and flags.
        let boxes = try boxes(in: 4..<bytes.count)
        let kept = boxes.map(\.type).filter(Self.kept.contains)
        guard Set(kept).count == kept.count else { throw .malformed("its directory has a box twice") }
        for box in boxes where !Self.kept.contains(box.type) { empty(box) }
        if let box = boxes.first(where: { $0.type == "iinf" }) { try readTypes(box.payload) }
        if let box = boxes.first(where: { $0.type == "iprp" }) { try cleanProperties(box.payload, pixels) }
        itemData = boxes.first { $0.type == "idat" }?.payload
        guard let box = boxes.first(where: { $0.type == "iloc" }) else { return }
        try readLocations(box.payload)
    }

    private struct Box {
        var type: String
        var start: Int
        var payload: Range<Int>
    }

    private func boxes(in range: Range<Int>) throws(Fault) -> [Box] {
        var boxes: [Box] = []
        var index = range.lowerBound
        while range.upperBound - index >= 8 {
            let short = number(at: index, 4)
            let isLong = short == 1 && range.upperBound - index >= 16
            let length = isLong ? number(at: index + 8, 8) : short == 0 ? UInt64(range.upperBound - index) : short
            let head = isLong ? 16 : 8
            guard length >= UInt64(head), length <= UInt64(range.upperBound - index) else {
                throw .malformed("the length of a box in its directory")
            }
            boxes.append(Box(type: bytes[index...].code(4), start: index, payload: (index + head)..<(index + Int(length))))
            index += Int(length)
        }
        return boxes
    }

    private mutating func empty(_ box: Box) {
        bytes.replaceSubrange((box.start + 4)..<(box.start + 8), with: Array("free".utf8))
        blank(box.payload)
    }

    private mutating func blank(_ range: Range<Int>) {
        for index in range { bytes[index] = 0 }
    }

    private func number(at index: Int, _ count: Int) -> UInt64 { bytes[index...].bigEndian(0, count) }
}

/// Items and properties.
extension HEICDirectory {
    /// The types of items from `iinf`: version, count, then a box for each.
    private mutating func readTypes(_ range: Range<Int>) throws(Fault) {
        guard range.count >= 6 else { throw .malformed("the list of its items") }
        let count = number(at: range.lowerBound, 1) == 0 ? 2 : 4
        guard range.count >= 4 + count else { throw .malformed("the list of its items") }
        for box in try boxes(in: (range.lowerBound + 4 + count)..<range.upperBound) where box.type == "infe" {
            guard box.payload.count >= 12 else { throw .malformed("an entry in the list of its items") }
            let start = box.payload.lowerBound
            let version = number(at: start, 1)
            let width = version < 3 ? 2 : 4
            guard box.payload.count >= 8 + width + 2 else { throw .malformed("an entry in the list of its items") }
            // Before version 2 an item has a media type and no other (ISO/IEC 14496-12, 8.11.6).
            itemTypes[number(at: start + 4, width)] = version < 2 ? "mime" : bytes[start...].code(4 + width + 2)
        }
    }

    private mutating func cleanProperties(_ range: Range<Int>, _ pixels: PixelLimit) throws(Fault) {
        for container in try boxes(in: range) where container.type == "ipco" {
            for box in try boxes(in: container.payload) {
                // A property is found by its place in the list, so it is emptied and not taken out.
                if Self.describing.contains(box.type) { empty(box) }
                guard box.type == "ispe" else { continue }
                guard box.payload.count >= 12 else { throw .malformed("the size of a picture") }
                let start = box.payload.lowerBound
                do throws(ServiceError) {
                    try pixels.check(width: number(at: start + 4, 4), height: number(at: start + 8, 4))
                } catch { throw .refused(error) }
            }
        }
    }
}

/// Where items lie.
extension HEICDirectory {
    /// Reads numbers one after the other.
    private struct Reader {
        let bytes: ArraySlice<UInt8>
        var index = 0

        mutating func number(_ count: Int) throws(Fault) -> UInt64 {
            guard count <= bytes.count - index else { throw .malformed("the places of its items") }
            defer { index += count }
            return bytes.bigEndian(index, count)
        }
    }

    private struct Item {
        let isMetadata: Bool
        /// 0 for the file, 1 for `idat`, 2 for another item.
        let method: UInt64
        let isExternal: Bool
        let base: UInt64
    }

    /// `iloc` (ISO/IEC 14496-12, 8.11.3).
    private mutating func readLocations(_ range: Range<Int>) throws(Fault) {
        var reader = Reader(bytes: bytes[range])
        let version = try reader.number(4) >> 24
        let sizes = try reader.number(2)
        let (offsetSize, lengthSize) = (Int(sizes >> 12), Int(sizes >> 8 & 15))
        let (baseSize, indexSize) = (Int(sizes >> 4 & 15), version == 0 ? 0 : Int(sizes & 15))
        guard version <= 2, max(offsetSize, lengthSize, baseSize, indexSize) <= 8 else {
            throw .malformed("the places of its items")
        }
        var left = Self.mostExtents
        for _ in 0..<(try reader.number(version < 2 ? 2 : 4)) {
            let id = try reader.number(version < 2 ? 2 : 4)
            let method = version == 0 ? 0 : try reader.number(2) & 15
            let isExternal = try reader.number(2) != 0
            let item = Item(
                isMetadata: itemTypes[id].map(Self.metadataItems.contains) ?? false, method: method, isExternal: isExternal,
                base: try reader.number(baseSize))
            for _ in 0..<(try reader.number(2)) {
                left -= 1
                guard left >= 0 else { throw .malformed("its items have too many pieces") }
                _ = try reader.number(indexSize)
                let offset = try reader.number(offsetSize)
                try remove(item, offset: offset, length: try reader.number(lengthSize))
            }
        }
    }

    /// Removes a piece of an item, or notes where it lies.
    private mutating func remove(_ item: Item, offset: UInt64, length: UInt64) throws(Fault) {
        guard item.isMetadata, !item.isExternal else { return }
        // A length of 0 stands for all of the file.
        guard length > 0, length < 1 << 48, item.method < 2 else { throw .malformed("the place of its metadata") }
        let (start, overflow) = item.base.addingReportingOverflow(offset)
        guard !overflow, start < 1 << 48 else { throw .malformed("the place of its metadata") }
        if item.method == 1 {
            emptied += length
            // Items do not overlap, so that a directory cannot ask for the same bytes again and again.
            guard let itemData, start + length <= UInt64(itemData.count), emptied <= UInt64(itemData.count) else {
                throw .malformed("the place of its metadata")
            }
            blank((itemData.lowerBound + Int(start))..<(itemData.lowerBound + Int(start + length)))
        } else {
            extents.append(Extent(start: Int64(start), end: Int64(start + length)))
        }
    }
}
