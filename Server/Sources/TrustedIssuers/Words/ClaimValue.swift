import WireText

/// A JSON value of a token, a key set or a discovery document, read strictly.
///
/// The tree is our own, and not a dictionary of Foundation's: two members with one name must be noticed
/// ([RFC 7515 section 4](https://www.rfc-editor.org/rfc/rfc7515#section-4),
/// [RFC 7519 section 4](https://www.rfc-editor.org/rfc/rfc7519#section-4)), and texts must compare byte for byte, while for Swift's
/// strings two spellings of one character are equal.
indirect enum ClaimValue: Sendable {
    case object([(name: String, value: ClaimValue)])
    /// An object in which a name occurs twice. Which of the two counts differs between readers, so here neither does.
    case ambiguous
    case list([ClaimValue])
    case text(String)
    /// A number as it is written.
    case number(String)
    case boolean(Bool)
    case null

    /// Deeper ones occur in no claim of a known issuer, and the reader recurses.
    static let depthLimit = 16

    /// Reads bytes; `nil` when they are not one JSON value in UTF-8.
    init?(_ bytes: [UInt8]) {
        do throws(JSONFault) {
            var cursor = try JSONCursor(validating: bytes, depthLimit: Self.depthLimit)
            cursor.skipBlanks()
            self = try Self.value(&cursor)
            try cursor.end()
        } catch { return nil }
    }

    /// The member of an object; `nil` in everything else.
    subscript(_ name: String) -> ClaimValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.hasSameBytes(as: name) }?.value
    }

    /// The text; `nil` for every other kind.
    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The texts of a list in which there is nothing else, or the one text that stands in place of a list; `nil` otherwise.
    var texts: [String]? {
        switch self {
        case .text(let text): return [text]
        case .list(let values):
            let texts = values.compactMap(\.text)
            return texts.count == values.count ? texts : nil
        default: return nil
        }
    }

    /// Whether a name occurs twice in some object of this value.
    var isAmbiguous: Bool {
        switch self {
        case .ambiguous: true
        case .object(let members): members.contains { $0.value.isAmbiguous }
        case .list(let values): values.contains { $0.isAmbiguous }
        default: false
        }
    }

    private static func value(_ cursor: inout JSONCursor) throws(JSONFault) -> ClaimValue {
        switch cursor.kind {
        case .object: return try object(&cursor)
        case .list:
            var values: [ClaimValue] = []
            var isFirst = true
            while try cursor.nextElement(&isFirst) { values.append(try value(&cursor)) }
            return .list(values)
        case .string: return .text(try cursor.string())
        case .number: return .number(cursor.text(try cursor.number()))
        case .boolean:
            let isTrue = cursor.peek == UInt8(ascii: "t")
            try cursor.skipPlainValue()
            return .boolean(isTrue)
        case .null, nil:
            try cursor.skipPlainValue()
            return .null
        }
    }

    private static func object(_ cursor: inout JSONCursor) throws(JSONFault) -> ClaimValue {
        var members: [(name: String, value: ClaimValue)] = []
        var names: Set<String> = []
        var isAmbiguous = false
        var isFirst = true
        while let name = try cursor.nextName(&isFirst) {
            if !names.insert(name).inserted { isAmbiguous = true }
            members.append((name, try value(&cursor)))
        }
        return isAmbiguous ? .ambiguous : .object(members)
    }
}

extension StringProtocol {
    /// Whether two texts are the same bytes, as the specifications compare them
    /// ([RFC 7519 section 7.3](https://www.rfc-editor.org/rfc/rfc7519#section-7.3)). For `==` the Kelvin sign is a `K`.
    func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}
