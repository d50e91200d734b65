import WireText

/// A language tag (BCP 47), such as `pt-BR`. Tags are the same whatever their case.
public struct LanguageTag: Hashable, Sendable {
    /// The longest tag (https://www.rfc-editor.org/rfc/rfc5646#section-4.4.1), in characters.
    public static let maximumLength = 35

    /// As it was given.
    public let text: String
    private let folded: String

    /// Reads a tag; `nil` for what is not made of parts of 1 to 8 letters and digits. The names of locales with `_` are read as well.
    public init?(_ text: some StringProtocol) {
        let text = String(text).replacing("_", with: "-")
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maximumLength, parts.allSatisfy({ (1...8).contains($0.count) }),
            parts.allSatisfy({ $0.allSatisfy(\.isASCIILetterOrDigit) })
        else { return nil }
        self.text = text
        folded = text.lowercased()
    }

    public static func == (left: Self, right: Self) -> Bool { left.folded == right.folded }

    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }

    /// What a lookup tries next: the tag without its last part, and without a single letter or digit before that; `nil` at the end.
    fileprivate var fallback: LanguageTag? {
        var parts = text.split(separator: "-").dropLast()
        if parts.last?.utf8.count == 1 { parts = parts.dropLast() }
        return parts.isEmpty ? nil : LanguageTag(parts.joined(separator: "-"))
    }
}

/// The languages of a reader, the best first.
public struct LanguagePreference: Hashable, Sendable {
    /// The most languages that are kept.
    public static let limit = 8

    public let tags: [LanguageTag]

    /// Takes language tags as a device reports them, without those that are malformed.
    public init(_ texts: [String]) {
        var tags: [LanguageTag] = []
        for tag in texts.lazy.compactMap(LanguageTag.init) where tags.count < Self.limit && !tags.contains(tag) {
            tags.append(tag)
        }
        self.tags = tags
    }

    /// Reads the field `Accept-Language` (https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4). What is malformed, a weight of zero
    /// and `*` name no language.
    public init(acceptLanguage field: String) {
        let ranges = field.prefix(1_000).split(separator: ",").map { range in
            let parts = range.filter { $0 != " " && $0 != "\t" }.lowercased().split(separator: ";")
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
            return (tag: String(parts.first ?? ""), weight: weight ?? 1)
        }
        let order = ranges.indices.filter { ranges[$0].weight > 0 }
            .sorted { (-ranges[$0].weight, $0) < (-ranges[$1].weight, $1) }
        self.init(order.map { ranges[$0].tag })
    }

    /// The form in which storage keeps it.
    public var stored: String { tags.map(\.text).joined(separator: ",") }

    /// Reads the stored form.
    public init(stored: String) { self.init(stored.split(separator: ",").map(String.init)) }

    /// The place of the best of these translations by the lookup of RFC 4647 (https://www.rfc-editor.org/rfc/rfc4647#section-3.4); `nil`
    /// where none fits.
    ///
    /// - Parameter group: that of the reader in a send with groups. A group with translations of its own gets no other.
    public func best(of translations: [TranslationKey], inGroup group: Int = 0) -> Int? {
        let isOwn = group > 0 && translations.contains { $0.group == group }
        let wantedGroup = isOwn ? group : nil
        for tag in tags {
            var wanted: LanguageTag? = tag
            while let tried = wanted {
                if let place = translations.firstIndex(of: TranslationKey(tried, group: wantedGroup)) { return place }
                wanted = tried.fallback
            }
        }
        return isOwn ? translations.firstIndex(of: TranslationKey(nil, group: group)) : nil
    }
}

/// For whom a translation is: readers in one language, those in one group of a send with groups, or both.
public struct TranslationKey: Hashable, Sendable {
    /// Absent for a group's readers in any language that the group has no translation for.
    public var language: LanguageTag?
    /// From 1; absent for all that have none of their own.
    public var group: Int?

    /// Creates a key.
    public init(_ language: LanguageTag?, group: Int? = nil) {
        self.language = language
        self.group = group
    }

    /// Keys as one column, such as `sv,@2,sv@2`; `nil` for none.
    public static func stored(_ keys: [TranslationKey]) -> String? {
        keys.isEmpty ? nil : keys.map { ($0.language?.text ?? "") + ($0.group.map { "@\($0)" } ?? "") }.joined(separator: ",")
    }

    /// Reads the column.
    public static func list(stored: String?) -> [TranslationKey] {
        (stored ?? "").split(separator: ",").map { text in
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            return TranslationKey(parts.first.flatMap(LanguageTag.init), group: parts.count == 2 ? Int(parts[1]) : nil)
        }
    }
}

/// The body of a push for devices in one language, or in one group.
public struct PushTranslation: Hashable, Sendable {
    /// The most translations of a send.
    public static let limit = 50

    public var key: TranslationKey
    public var body: [UInt8]

    /// Creates a translation.
    public init(_ key: TranslationKey, body: [UInt8]) {
        self.key = key
        self.body = body
    }
}

/// Chooses the translation for each device of a send. Most devices have one of a few preferences, so each is looked up once.
public struct TranslationChoice: Sendable {
    private struct Reader: Hashable {
        var preference: String
        var group: Int
    }

    /// None for a send without translations.
    private let translations: [TranslationKey]
    private var known: [Reader: TemplateID?] = [:]

    /// Takes the translations of a send in the stored form of their keys.
    public init(stored: String?) {
        translations = TranslationKey.list(stored: stored)
    }

    /// Whether there is something to choose from.
    public var isNeeded: Bool { !translations.isEmpty }

    /// The number of the translation for a device with this stored preference: its place among the translations, from 1. It stands where
    /// a template send has the template. `nil` for the body that the send has besides.
    public mutating func number(for preference: String, inGroup group: Int = 0) -> TemplateID? {
        let reader = Reader(preference: preference, group: group)
        if let number = known[reader] { return number }
        let place = LanguagePreference(stored: preference).best(of: translations, inGroup: group)
        let number = place.map { TemplateID(Int64($0) + 1) }
        if known.count < Self.bound { known[reader] = number }
        return number
    }

    private static let bound = 1_000
}
