/// A label on a device by which audiences are chosen: 1 to 120 letters with their marks, digits (Unicode scalars) and
/// `_ @ # . : -`.
///
/// Tags compare without regard to case and are stored as given (Reference/AzureNotificationHubs.md#3-1). Unicode letters and
/// digits are accepted as that protocol's clients send them.
public struct Tag: Sendable, CustomStringConvertible {
    /// The most characters a tag may have.
    public static let maximumLength = 120

    /// The tag as it was given.
    public let text: String

    /// The form that is compared and indexed.
    public let folded: String

    /// Creates a tag; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        guard Self.isPlain(text) || Self.isWellFormed(text.unicodeScalars) else { return nil }
        self.text = text
        folded = Self.folded(text)
    }

    private init(trusted text: String) {
        self.text = text
        folded = Self.folded(text)
    }

    private init(addressing kind: Addressing, value: some StringProtocol) {
        text = "\(kind.rawValue):{\(value)}"
        // Record ids differ by case, so only the prefix before the braces is folded: else one id could receive for another.
        folded = "\(kind.rawValue.lowercased()):{\(value)}"
    }

    private enum Addressing: String, CaseIterable {
        case installation = "$InstallationId"
        case user = "$UserId"
    }

    /// Reads one of the two forms that the server adds and clients may only address, `$InstallationId:{…}` and
    /// `$UserId:{…}` (Reference/AzureNotificationHubs.md#3-1 and #3-2); `nil` for anything else. The value has 1 to 256
    /// characters, any but `}` and control characters.
    public static func addressing(_ text: String) -> Tag? {
        // By scalars: a mark at either end of the value makes one character with the brace beside it.
        let scalars = text.unicodeScalars
        guard scalars.last == "}" else { return nil }
        for kind in Addressing.allCases {
            let prefix = kind.rawValue.unicodeScalars.count + 2
            guard lowered(scalars.prefix(prefix)) == lowered((kind.rawValue + ":{").unicodeScalars.prefix(prefix)) else {
                continue
            }
            let value = scalars.dropFirst(prefix).dropLast()
            guard (1...maximumAddress).contains(value.count), value.allSatisfy(isAllowedInBraces) else { return nil }
            return Tag(addressing: kind, value: Substring(value))
        }
        return nil
    }

    /// The most characters between the braces.
    private static let maximumAddress = 256

    /// Only ASCII letters: the two prefixes have no others.
    private static func lowered(_ scalars: Substring.UnicodeScalarView) -> [UInt32] {
        scalars.map { ("A"..."Z").contains($0) ? $0.value + 32 : $0.value }
    }

    /// Takes a tag of either form from storage.
    public static func stored(_ text: String) -> Tag? { Tag(text) ?? addressing(text) }

    /// The tag that the server gives to every device of a signed-in user.
    public static func user(_ name: UserName) -> Tag { Tag(trusted: "username:" + name.text) }

    /// The tag that addresses one installation (Reference/AzureNotificationHubs.md#3-1). Clients may not set it.
    public static func installation(_ id: InstallationID) -> Tag {
        Tag(addressing: .installation, value: id.text)
    }

    /// The tag that addresses every installation that a client of the hub protocol gave this user
    /// (Reference/AzureNotificationHubs.md#3-1); `nil` when the name is one that no expression can carry.
    public static func addressedUser(_ name: String) -> Tag? { addressing("$UserId:{\(name)}") }

    /// The tag that addresses the installation of the hub protocol with this id; `nil` when no expression can carry it.
    public static func addressedInstallation(_ id: String) -> Tag? { addressing("$InstallationId:{\(id)}") }

    public var description: String { text }

    /// Also refused are the two that no XML document can hold.
    private static func isAllowedInBraces(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "}" && scalar.properties.generalCategory != .control && scalar != "\u{FFFE}" && scalar != "\u{FFFF}"
    }

    /// Whether all between the braces is what the .NET client takes there (Reference/AzureNotificationHubs.md#3-1): the ASCII of
    /// tags and `=`, else letters, marks that take no place, decimal digits and joining punctuation, none beyond U+FFFF.
    public var hasPlainAddress: Bool {
        let value = text.unicodeScalars.drop { $0 != "{" }.dropFirst().dropLast()
        return value.allSatisfy { $0 == "=" || ($0.isASCII ? Self.isAllowed($0) : Self.isWordCharacter($0)) }
    }

    private static func isWordCharacter(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value <= 0xFFFF else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .decimalNumber,
            .connectorPunctuation:
            return true
        default: return false
        }
    }

    private static func isWellFormed(_ scalars: String.UnicodeScalarView) -> Bool {
        (1...maximumLength).contains(scalars.count) && scalars.allSatisfy(isAllowed)
    }

    /// Whether it is an allowed one of ASCII alone, as nearly all are: those are read byte by byte.
    private static func isPlain(_ text: String) -> Bool {
        (1...maximumLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 < 0x80 && isAllowed(Unicode.Scalar($0)) }
    }

    /// In lower case. Most tags are so already and share their bytes.
    private static func folded(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) } ? text : text.lowercased()
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "@", "#", ".", ":", "-": true
        case _ where scalar.isASCII: false
        default: scalar.properties.isAlphabetic || scalar.properties.numericType != nil || isPartOfWord(scalar)
        }
    }

    /// Marks without which a word of many languages cannot be written, and joining punctuation.
    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .connectorPunctuation: true
        default: false
        }
    }

    /// The tags of a comma-separated list as they stand there, without blanks around and without empty places
    /// (Reference/AzureNotificationHubs.md#3-1). A comma between braces is part of the name of a user or an installation.
    public static func texts(separatedByCommas text: String) -> [String] {
        // Most lists have neither blanks nor braces.
        guard text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "$") }) else {
            return text.split(separator: ",").map { String($0) }
        }
        let scalars = Array(text.unicodeScalars)
        var texts: [String] = []
        var start = 0
        while start < scalars.count {
            let end = end(of: scalars[start...])
            let tag = scalars[start..<end].drop { $0.properties.isWhitespace }
            let blanks = tag.reversed().prefix { $0.properties.isWhitespace }.count
            var view = String.UnicodeScalarView()
            view.append(contentsOf: tag.dropLast(blanks))
            if !view.isEmpty { texts.append(String(view)) }
            start = end + 1
        }
        return texts
    }

    /// Where the first tag of the rest ends: at the next comma, for one that begins with `$` at the next behind its braces.
    private static func end(of rest: ArraySlice<Unicode.Scalar>) -> Int {
        let tag = rest.drop { $0.properties.isWhitespace }
        let comma = tag.firstIndex(of: ",") ?? rest.endIndex
        guard tag.first == "$", let open = tag.firstIndex(of: "{"), open < comma, let close = tag[open...].firstIndex(of: "}")
        else { return comma }
        return tag[close...].firstIndex(of: ",") ?? rest.endIndex
    }
}

extension Tag: Hashable {
    /// By bytes, as every database compares them: for Swift's strings two spellings of one character are equal.
    public static func == (left: Tag, right: Tag) -> Bool { left.folded.utf8.elementsEqual(right.folded.utf8) }

    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

extension Tag: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let tag = Tag(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a tag has 1 to 120 letters, digits and _ @ # . : -")
        }
        self = tag
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
