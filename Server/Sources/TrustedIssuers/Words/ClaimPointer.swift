/// Where in a token a claim stands, as a JSON Pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)): `/sub`,
/// `/realm_access/roles`, `/https:~1~1example.com~1roles`.
public struct ClaimPointer: Hashable, Sendable, CustomStringConvertible {
    /// The pointer as it was given.
    public let text: String
    /// The names from the outermost inwards, unescaped.
    let names: [String]

    /// The claim of [RFC 7519 section 4.1.2](https://www.rfc-editor.org/rfc/rfc7519#section-4.1.2).
    public static let subject = ClaimPointer(text: "/sub", names: ["sub"])

    private static let maximumLength = 256

    private init(text: String, names: [String]) {
        self.text = text
        self.names = names
    }

    /// Reads a pointer; `nil` when the text does not begin with `/`, has an escape other than `~0` and `~1`, an empty name or more than
    /// 256 bytes.
    public init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= Self.maximumLength else { return nil }
        var names: [String] = []
        for part in text.unicodeScalars.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard !part.isEmpty, let name = Self.unescaped(part) else { return nil }
            names.append(name)
        }
        self.init(text: text, names: names)
    }

    public var description: String { text }

    /// The value at this place; `nil` when there is none. Elements of lists are not looked up: no claim of an issuer is one.
    func value(in claims: ClaimValue) -> ClaimValue? {
        var value: ClaimValue? = claims
        for name in names { value = value?[name] }
        return value
    }

    private static func unescaped(_ part: Substring.UnicodeScalarView.SubSequence) -> String? {
        var name = String.UnicodeScalarView()
        var rest = part
        while let scalar = rest.popFirst() {
            guard scalar == "~" else {
                name.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "0": name.append("~")
            case "1": name.append("/")
            default: return nil
            }
        }
        return String(name)
    }
}
