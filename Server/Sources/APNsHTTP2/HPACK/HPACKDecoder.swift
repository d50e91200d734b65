#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Takes the fields of a header block one by one. The bytes are valid only during the call.
protocol HPACKFieldSink {
    mutating func field(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)
}

/// Decodes header blocks (RFC 7541). One for each connection: its table must see every block, wanted or not.
struct HPACKDecoder {
    /// Working memory for one literal field, kept to save allocations.
    private struct Literal {
        var name: [UInt8] = []
        var value: [UInt8] = []
    }

    var table: HPACKDynamicTable
    private var literal = Literal()
    /// What our SETTINGS allow the peer.
    private let allowedTableSize: Int
    /// Sum over the fields of name, value and 32.
    private let maximumListSize: Int

    init(tableSize: Int = 4096, maximumListSize: Int = 32_768) {
        allowedTableSize = tableSize
        self.maximumListSize = maximumListSize
        table = HPACKDynamicTable(maximumSize: tableSize)
    }

    /// Decodes one complete block.
    mutating func decode(_ block: UnsafeRawBufferPointer, into sink: inout some HPACKFieldSink) throws(HPACKFault) {
        var offset = 0
        var listSize = 0
        var hasField = false
        while offset < block.count {
            let first = block[offset]
            if first & 0xE0 == 0x20 {
                // RFC 7541, 4.2: only at the beginning of a block.
                guard !hasField else { throw .misplacedSizeUpdate }
                let size = try HPACKInteger.read(block, at: &offset, prefix: 5)
                guard size <= allowedTableSize else { throw .sizeUpdateTooLarge }
                table.resize(to: size)
                continue
            }
            hasField = true
            if first & 0x80 != 0 {
                let index = try HPACKInteger.read(block, at: &offset, prefix: 7)
                listSize += try emitIndexed(index, into: &sink)
            } else {
                listSize += try emitLiteral(block, at: &offset, into: &sink)
            }
            guard listSize <= maximumListSize else { throw .listTooLong }
        }
    }

    private func emitIndexed(_ index: Int, into sink: inout some HPACKFieldSink) throws(HPACKFault) -> Int {
        if (1...HPACKStaticTable.count).contains(index) {
            let field = HPACKStaticTable.bytes[index - 1]
            field.name.withUnsafeBytes { name in
                field.value.withUnsafeBytes { value in sink.field(name: name, value: value) }
            }
            return field.name.count + field.value.count + 32
        }
        let size = table.withEntry(index - HPACKStaticTable.count - 1) { name, value in
            sink.field(name: name, value: value)
            return name.count + value.count + 32
        }
        guard let size else { throw .invalidIndex }
        return size
    }

    private mutating func emitLiteral(
        _ block: UnsafeRawBufferPointer, at offset: inout Int, into sink: inout some HPACKFieldSink
    ) throws(HPACKFault) -> Int {
        let isIndexing = block[offset] & 0xC0 == 0x40
        var literal = Literal()
        swap(&literal, &self.literal)
        defer { swap(&literal, &self.literal) }
        let index = try HPACKInteger.read(block, at: &offset, prefix: isIndexing ? 6 : 4)
        if index == 0 {
            try readString(block, at: &offset, into: &literal.name)
        } else {
            try readName(index, into: &literal.name)
        }
        try readString(block, at: &offset, into: &literal.value)
        literal.name.withUnsafeBytes { name in
            literal.value.withUnsafeBytes { value in
                sink.field(name: name, value: value)
                if isIndexing { table.insert(name: name, value: value) }
            }
        }
        return literal.name.count + literal.value.count + 32
    }

    private func readName(_ index: Int, into name: inout [UInt8]) throws(HPACKFault) {
        name.removeAll(keepingCapacity: true)
        if index <= HPACKStaticTable.count {
            name.append(contentsOf: HPACKStaticTable.bytes[index - 1].name)
            return
        }
        let found: Void? = table.withEntry(index - HPACKStaticTable.count - 1) { bytes, _ in name.append(contentsOf: bytes) }
        guard found != nil else { throw .invalidIndex }
    }

    private func readString(
        _ block: UnsafeRawBufferPointer, at offset: inout Int, into text: inout [UInt8]
    ) throws(HPACKFault) {
        guard offset < block.count else { throw .truncated }
        let isHuffman = block[offset] & 0x80 != 0
        let length = try HPACKInteger.read(block, at: &offset, prefix: 7)
        guard length <= block.count - offset else { throw .truncated }
        let coded = UnsafeRawBufferPointer(rebasing: block[offset..<(offset + length)])
        offset += length
        text.removeAll(keepingCapacity: true)
        if isHuffman {
            try HuffmanDecoder.shared.decode(coded, into: &text, limit: maximumListSize)
        } else {
            guard length <= maximumListSize else { throw .stringTooLong }
            text.append(contentsOf: coded)
        }
    }
}

/// The ids of a success.
struct HPACKSuccess {
    var apnsID: UUID
    /// In the sandbox (Reference/APNs.md#4).
    var uniqueID: UUID?
}

/// The fast way for the header block of a success, in every form that servers give it: the ids as literals with indexing, as
/// Netty writes all headers (Reference/APNs.md#1-4), or without, plain or Huffman-coded, with their names in the table or written
/// out.
extension HPACKDecoder {
    private enum Name {
        case apnsID, uniqueID

        var word: StaticString { self == .apnsID ? "apns-id" : "apns-unique-id" }
    }

    /// A literal field with the name of an id.
    private struct IDField {
        var name: Name
        var isIndexing: Bool
        /// As it stands in the block.
        var coded: UnsafeRawBufferPointer
        var isHuffman: Bool
        var id: UUID

        /// What the entry in the table costs (RFC 7541, 4.1). A UUID has 36 characters.
        var size: Int { name.word.utf8CodeUnitCount + 36 + 32 }
    }

    private static let codedNames = [Name.apnsID, .uniqueID].map { name in
        var bytes: [UInt8] = []
        HPACKEncoder.appendString("\(name.word)", to: &bytes)
        return (name, Array(bytes.dropFirst()))
    }

    /// The ids of a block that says nothing but `:status: 200` and those; `nil` for every other block, valid or not. Then the decoder
    /// is as it was, and the block is to be decoded in the general way.
    mutating func success(_ block: UnsafeRawBufferPointer) -> HPACKSuccess? {
        guard block.count > 4, block[0] == 0x88 else { return nil }
        var offset = 1
        guard let first = idField(block, at: &offset, behind: nil) else { return nil }
        if offset == block.count {
            guard first.name == .apnsID else { return nil }
            if first.isIndexing { insert(first) }
            return HPACKSuccess(apnsID: first.id)
        }
        guard let second = idField(block, at: &offset, behind: first), offset == block.count, second.name != first.name else {
            return nil
        }
        if first.isIndexing { insert(first) }
        if second.isIndexing { insert(second) }
        return first.name == .apnsID
            ? HPACKSuccess(apnsID: first.id, uniqueID: second.id) : HPACKSuccess(apnsID: second.id, uniqueID: first.id)
    }

    /// Reads a literal field without putting it into the table.
    ///
    /// - Parameter previous: the field before, which may be on its way into the table.
    @inline(__always)
    private func idField(_ block: UnsafeRawBufferPointer, at offset: inout Int, behind previous: IDField?) -> IDField? {
        let isIndexing = block[offset] & 0xC0 == 0x40
        guard isIndexing || block[offset] & 0xE0 == 0 else { return nil }
        let mask = isIndexing ? 0x3F : 0x0F
        var index = Int(block[offset]) & mask
        offset += 1
        if index == mask {
            guard offset < block.count, block[offset] < 0x80 else { return nil }
            index += Int(block[offset])
            offset += 1
        }
        guard let name = index == 0 ? writtenName(block, at: &offset) : nameInTable(index, behind: previous),
            let value = string(block, at: &offset),
            let id = value.isHuffman ? HuffmanUUID.decode(value.coded) : PlainUUID.decode(value.coded)
        else { return nil }
        return IDField(name: name, isIndexing: isIndexing, coded: value.coded, isHuffman: value.isHuffman, id: id)
    }

    /// A string of less than 127 bytes.
    @inline(__always)
    private func string(
        _ block: UnsafeRawBufferPointer, at offset: inout Int
    ) -> (coded: UnsafeRawBufferPointer, isHuffman: Bool)? {
        guard offset < block.count else { return nil }
        let length = Int(block[offset] & 0x7F)
        let isHuffman = block[offset] & 0x80 != 0
        offset += 1
        guard length < 0x7F, block.count - offset >= length else { return nil }
        defer { offset += length }
        return (UnsafeRawBufferPointer(rebasing: block[offset..<(offset + length)]), isHuffman)
    }

    private func writtenName(_ block: UnsafeRawBufferPointer, at offset: inout Int) -> Name? {
        guard let text = string(block, at: &offset) else { return nil }
        for (name, coded) in Self.codedNames {
            let isSame =
                text.isHuffman
                ? text.coded.elementsEqual(coded)
                : text.coded.elementsEqual(UnsafeBufferPointer(start: name.word.utf8Start, count: name.word.utf8CodeUnitCount))
            if isSame { return name }
        }
        return nil
    }

    @inline(__always)
    private func nameInTable(_ index: Int, behind previous: IDField?) -> Name? {
        var entry = index - HPACKStaticTable.count - 1
        guard entry >= 0 else { return nil }
        if let previous, previous.isIndexing {
            // The newest entry will be the field before, and it may push others out.
            // One that is larger than the table empties it instead (RFC 7541, 4.4), which the general path handles.
            guard previous.size <= table.maximumSize else { return nil }
            if entry == 0 { return previous.name }
            entry -= 1
            guard table.keeps(entry, besides: previous.size) else { return nil }
        }
        if table.isName(entry, Name.apnsID.word) { return .apnsID }
        return table.isName(entry, Name.uniqueID.word) ? .uniqueID : nil
    }

    private mutating func insert(_ field: IDField) {
        let name = UnsafeRawBufferPointer(start: field.name.word.utf8Start, count: field.name.word.utf8CodeUnitCount)
        guard field.isHuffman else { return table.insert(name: name, value: field.coded) }
        // Either case is a UUID, and the table keeps the text as it is. That it can be decoded was seen already.
        var text: [UInt8] = []
        text.reserveCapacity(36)
        _ = try? HuffmanDecoder.shared.decode(field.coded, into: &text, limit: 36)
        text.withUnsafeBytes { table.insert(name: name, value: $0) }
    }
}

/// Why a header block cannot be decoded. Each of them ends the connection with COMPRESSION_ERROR (RFC 9113, 4.3).
enum HPACKFault: Error, Hashable {
    case truncated
    case integerOverflow
    case invalidIndex
    case invalidHuffman
    case stringTooLong
    case listTooLong
    case sizeUpdateTooLarge
    case misplacedSizeUpdate
}
