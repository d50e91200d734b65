import WireText

/// What fills templates: the properties of one template send, a flat JSON object (Reference/AzureNotificationHubs.md#4-1).
///
/// Names compare without regard to case (ASCII). A number or boolean counts as its JSON text; `null` counts as no value, so that a
/// fallback stands in instead of the word.
public struct TemplateProperties: Hashable, Sendable {
    /// By the name in lower case.
    private var values: [String: String] = [:]

    /// Reads the body of a template send.
    ///
    /// Throws for anything but one object of texts, numbers, booleans and nulls, for names that differ in case at most, and beyond
    /// `TemplateLimits.properties` and `TemplateLimits.propertyBytes`.
    public init(json: String) throws(TemplateError) {
        var cursor = JSONCursor(json)
        do throws(TemplateFault) {
            guard cursor.bytes.count <= TemplateLimits.propertyBytes else {
                throw TemplateFault(.tooLarge(limit: TemplateLimits.propertyBytes), at: nil)
            }
            try read(&cursor)
        } catch {
            throw TemplateError(error, in: .properties, of: cursor.bytes)
        }
    }

    /// Takes properties that code has put together, within the same limits; their bytes are those of names and values.
    public init(_ properties: [String: String]) throws(TemplateError) {
        guard properties.count <= TemplateLimits.properties else {
            throw TemplateError(.tooManyProperties(limit: TemplateLimits.properties), in: .properties, at: 0)
        }
        guard properties.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) <= TemplateLimits.propertyBytes else {
            throw TemplateError(.tooLarge(limit: TemplateLimits.propertyBytes), in: .properties, at: 0)
        }
        for (name, value) in properties where values.updateValue(value, forKey: Self.folded(name)) != nil {
            throw TemplateError(.duplicateProperty, in: .properties, at: 0)
        }
    }

    /// How many properties have a value.
    public var count: Int { values.count }

    /// The value of a property, whatever the case of the name.
    public subscript(_ name: String) -> String? { values[Self.folded(name)] }

    subscript(folded name: String) -> String? { values[name] }

    /// The same properties as JSON for storage: names in lower case and sorted, all values as strings.
    public var json: String {
        let members = values.sorted { $0.key < $1.key }.map { Self.quoted($0.key) + ":" + Self.quoted($0.value) }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Only ASCII is folded: the names that a template can have are ASCII.
    private static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func quoted(_ text: String) -> String {
        var buffer = RenderingBuffer(escaping: .json, limit: .max, expected: text.utf8.count + 2)
        // Nothing is larger than this limit.
        try? buffer.append(escaping: text[...])
        return "\"" + String(decoding: buffer.bytes, as: UTF8.self) + "\""
    }

    private mutating func read(_ cursor: inout JSONCursor) throws(TemplateFault) {
        cursor.skipBlanks()
        guard cursor.peek != nil else { throw TemplateFault(.empty, at: nil) }
        guard cursor.kind == .object else { throw cursor.fault(.expectedObject) }
        var names: Set<String> = []
        var isFirst = true
        while let name = try cursor.member(&isFirst).map(Self.folded) {
            let start = cursor.duplicateName.start
            guard names.insert(name).inserted else { throw cursor.fault(.duplicateProperty, at: start) }
            guard names.count <= TemplateLimits.properties else {
                throw cursor.fault(.tooManyProperties(limit: TemplateLimits.properties), at: start)
            }
            values[name] = try Self.readValue(&cursor)
        }
        try cursor.finish()
    }

    /// `nil` for `null`.
    private static func readValue(_ cursor: inout JSONCursor) throws(TemplateFault) -> String? {
        let start = cursor.position
        switch cursor.kind {
        case .string: return try cursor.positionedText().string
        case .object, .list: throw cursor.fault(.nestedProperty)
        default: try cursor.plainValue()
        }
        let text = cursor.text(start..<cursor.position)
        return text == "null" ? nil : text
    }
}
