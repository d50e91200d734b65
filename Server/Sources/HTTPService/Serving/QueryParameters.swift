import Hummingbird
import ServiceErrors

/// The query of a request, read strictly: a name that the route does not know, or one given twice, is the caller's mistake.
public struct QueryParameters: Sendable {
    private var values: [String: String] = [:]

    /// Reads the query of `request`. Throws `invalid-field` that names the parameter.
    public init(of request: Request, allowed: Set<String>) throws(ServiceError) {
        try self.init(request.uri.query ?? "", allowed: allowed)
    }

    /// Reads a query without its question mark. A plus sign stands for itself (RFC 3986), not for a blank.
    public init(_ query: String, allowed: Set<String>) throws(ServiceError) {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                throw ServiceError(.invalidField, "the query has an escape that cannot be read")
            }
            guard allowed.contains(name) else {
                let known = allowed.sorted().joined(separator: ", ")
                let expectation = allowed.isEmpty ? "this route takes none" : "this route takes \(known)"
                throw ServiceError(.invalidField, "a query parameter is not known: \(expectation)")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw ServiceError(.invalidField, "query parameter '\(name)' is given twice")
            }
        }
    }

    /// The value of a parameter, or `nil` when it is absent.
    public subscript(name: String) -> String? { values[name] }

    /// A whole number within a range. Throws `invalid-field` for anything else.
    public func number(_ name: String, in range: ClosedRange<Int>) throws(ServiceError) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), range.contains(number), text.utf8.first != UInt8(ascii: "+") else {
            throw ServiceError(
                .invalidField,
                "query parameter '\(name)': expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The text behind percent escapes; `nil` when an escape is malformed or the bytes are not UTF-8.
    public static func decoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(), Self.isHexDigit(high), Self.isHexDigit(low),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }
}
