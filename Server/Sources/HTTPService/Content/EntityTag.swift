/// A strong entity tag, compared as RFC 9110 says (8.8.3 and 13.1).
public struct EntityTag: Hashable, Sendable {
    /// With its quotes, as it stands in the header.
    public let header: String

    /// Makes a tag of a digest or any other text without quotes.
    public init(_ text: String) { header = "\"\(text)\"" }

    /// Whether `If-None-Match` names it: a list or `*`, weak comparison.
    public func isNamed(inIfNoneMatch list: String) -> Bool {
        Self.elements(of: list).contains { $0 == "*" || $0 == header || $0 == "W/" + header }
    }

    /// Whether `If-Match` names it: a list or `*`, strong comparison.
    public func isNamed(inIfMatch list: String) -> Bool {
        Self.elements(of: list).contains { $0 == "*" || $0 == header }
    }

    /// Whether `If-Range` names it. A date never does, since contents have none.
    public func isNamed(inIfRange value: String) -> Bool { value == header }

    private static func elements(of list: String) -> [Substring] {
        list.split(separator: ",").map { element in
            var element = element.drop { $0 == " " || $0 == "\t" }
            while element.last == " " || element.last == "\t" { element.removeLast() }
            return element
        }
    }
}
