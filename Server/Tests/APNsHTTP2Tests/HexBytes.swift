import NIOCore

@testable import APNsHTTP2

/// Bytes from hexadecimal text; blanks are for the reader.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.utf8.filter { $0 > 0x20 }.map { UInt8(String(UnicodeScalar($0)), radix: 16) ?? 0 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Keeps the fields of header blocks as text.
struct FieldList: HPACKFieldSink {
    var fields: [String] = []

    mutating func field(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        fields.append(String(decoding: name, as: UTF8.self) + ": " + String(decoding: value, as: UTF8.self))
    }
}

extension HPACKDecoder {
    mutating func fields(_ block: [UInt8]) throws -> [String] {
        var list = FieldList()
        try block.withUnsafeBytes { try decode($0, into: &list) }
        return list.fields
    }
}
