/// Brings the bytes of a document to UTF-8: UTF-8 with or without a byte order mark, UTF-16 by its mark or by the first two
/// characters of a declaration. Nothing else is guessed, so that nobody can hide markup in UTF-7 or EBCDIC.
enum XMLDecoding {
    /// The bytes in UTF-8, valid and without a mark.
    static func utf8(_ bytes: [UInt8]) throws(XMLFault) -> [UInt8] {
        let start = XMLPosition(line: 1, column: 1)
        if bytes.starts(with: [0xFF, 0xFE, 0x00, 0x00]) || bytes.starts(with: [0x00, 0x00, 0xFE, 0xFF]) {
            throw XMLFault(.unsupportedEncoding, at: start)
        }
        if bytes.starts(with: [0xFF, 0xFE]) { return try utf16(bytes.dropFirst(2), bigEndian: false) }
        if bytes.starts(with: [0xFE, 0xFF]) { return try utf16(bytes.dropFirst(2), bigEndian: true) }
        if bytes.starts(with: [0x3C, 0x00]) { return try utf16(bytes[...], bigEndian: false) }
        if bytes.starts(with: [0x00, 0x3C]) { return try utf16(bytes[...], bigEndian: true) }
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard isValid(body) else { throw XMLFault(.invalidBytes, at: start) }
        return Array(body)
    }

    private static func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        // The common case costs one look at each byte.
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, bigEndian: Bool) throws(XMLFault) -> [UInt8] {
        let start = XMLPosition(line: 1, column: 1)
        guard bytes.count.isMultiple(of: 2) else { throw XMLFault(.invalidBytes, at: start) }
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(bigEndian ? first << 8 | second : second << 8 | first)
            index += 2
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw XMLFault(.invalidBytes, at: start) }
        return Array(text.utf8)
    }
}
