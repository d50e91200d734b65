import Hummingbird
import ServiceErrors
import WireText

/// The query of a request, read strictly: a name that the route does not know, or one given twice, is the caller's mistake.
public struct QueryParameters: Sendable {
    private var values: [String: String] = [:]

    /// Reads the query of `request`. Throws `invalid-field` that names the parameter.
    public init(of request: Request, allowed: Set<String>) throws(ServiceError) {
        try self.init(request.uri.query ?? "", allowed: allowed)
    }

    /// Reads a query without its question mark, which may have more than what is asked for.
    public init(_ query: String, taking names: Set<String>) throws(ServiceError) {
        let known = query.split(separator: "&").filter { names.contains(String($0.prefix { $0 != "=" })) }
        try self.init(known.joined(separator: "&"), allowed: names)
    }

    /// Reads a query without its question mark. A plus sign stands for itself (RFC 3986), not for a blank.
    public init(_ query: String, allowed: Set<String>) throws(ServiceError) {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(parts[0]), let value = PercentEncoding.decode(parts.count > 1 ? parts[1] : "")
            else {
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
}
