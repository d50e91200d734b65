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
