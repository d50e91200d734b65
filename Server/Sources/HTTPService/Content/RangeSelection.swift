/// Which bytes of a content a `Range` header asks for (RFC 9110, 14.1 and 14.2).
public enum RangeSelection: Hashable, Sendable {
    /// All of it, status 200: no header, another unit, malformed, or several ranges. A server may answer several with the
    /// whole; a thousand small ones would cost more than they are worth (Reference/SecurityCases.md#4).
    case whole
    /// One part, never empty, status 206.
    case part(Range<Int64>)
    /// Nothing of it, status 416.
    case unsatisfiable

    /// Reads the header for a content of `size` bytes.
    public init(header: String?, size: Int64) {
        guard let header, header.utf8.count <= 64, let equals = header.firstIndex(of: "="),
            header[..<equals].lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        let spec = header[header.index(after: equals)...]
        let ends = spec.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }) else {
            self = .whole
            return
        }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (nil, nil): self = .whole
        case (nil, let length?): self = length == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - length)..<size)
        case (let first?, nil): self = first < size ? .part(first..<size) : .unsatisfiable
        case (let first?, let last?):
            if last < first {
                self = .whole
            } else {
                self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
            }
        }
    }

    /// The digits as a number, as large as possible when there are too many; `nil` for none.
    private static func number(_ digits: Substring) -> Int64? { digits.isEmpty ? nil : Int64(digits) ?? .max }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
