#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The name by which a user signs in: 1 to 64 of `A-Z a-z 0-9 _ @ . -`, unique without regard to case.
public struct UserName: Sendable, Codable, CustomStringConvertible {
    /// The name as it was given.
    public let text: String

    /// The form that is compared.
    public var folded: String { text.lowercased() }

    /// Creates a name; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    public var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let name = UserName(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a user name has 1 to 64 of A-Z a-z 0-9 _ @ . -")
        }
        self = name
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension UserName: Hashable {
    public static func == (left: UserName, right: UserName) -> Bool { left.folded == right.folded }

    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

/// Limits of the texts of a notification. The app backend checks them, and so does a sender who seals, since the backend cannot read a
/// sealed text.
public enum TextRule {
    /// Of a message, and of the terms of a coupon, in Unicode scalars: one visible character may have any number of marks, and this bounds
    /// the bytes too.
    public static let message = 1...2000
    /// Of a title, a subtitle and the headline of a coupon.
    public static let title = 1...200
    /// Of a description of a picture.
    public static let altText = 1...1000
    /// Of a coupon's code.
    public static let code = 1...64

    /// The rule that a text breaks; `nil` for a valid text and for none.
    public static func fault(of text: String?, scalars: ClosedRange<Int>) -> String? {
        guard let text else { return nil }
        guard scalars.contains(text.unicodeScalars.count) else {
            return "\(scalars.lowerBound) to \(scalars.upperBound) characters"
        }
        // A blank notification would be pushed and could not be read.
        guard !text.unicodeScalars.allSatisfy(isInvisible) else { return "more than white space" }
        return text.unicodeScalars.contains(where: isControl) ? "text without control characters" : nil
    }

    /// The first invalid field of a coupon, and the rule that it breaks.
    public static func fault(of coupon: Coupon) -> (field: String, rule: String)? {
        let fields: [(String, String?, ClosedRange<Int>)] = [
            ("coupon.code", coupon.code, code), ("coupon.headline", coupon.headline, title),
            ("coupon.terms", coupon.terms, message),
        ]
        for (field, text, scalars) in fields {
            if let rule = fault(of: text, scalars: scalars) { return (field, rule) }
        }
        return nil
    }

    /// Whether a scalar is an invisible control character, and neither the end of a line nor a tab.
    public static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && scalar != "\n" && scalar != "\t" && scalar != "\r"
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint
    }
}

/// Which links may be sent: absolute https, and http to loopback for trying things out.
public enum LinkAddressRule {
    /// The most characters of a link.
    public static let maximumLength = 2000

    /// The rule that a link breaks; `nil` for a valid link.
    public static func fault(of link: String) -> String? {
        let visible = link.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        guard (1...maximumLength).contains(link.utf8.count), visible, let url = URL(string: link),
            let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased(), !host.isEmpty, url.user() == nil,
            scheme == "https" || (scheme == "http" && isLoopback(host))
        else { return "an absolute https address without user name, at most \(maximumLength) ASCII characters" }
        return nil
    }

    private static func isLoopback(_ host: String) -> Bool { ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host) }
}
