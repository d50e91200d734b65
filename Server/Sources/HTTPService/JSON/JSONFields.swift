import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decodes JSON that was scanned before, with errors that name the field and what was expected, and never a value.
public enum JSONFields {
    /// Decodes `type`. With `known`, a field that is not in it is refused: a typing error must not silently change what a
    /// request does. Throws `malformed-json` and `invalid-field`.
    public static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], known: Set<String>? = nil, depthLimit: Int = JSONLimits().depth
    ) throws(ServiceError) -> Value {
        _ = try JSONScanner.scan(bytes, depthLimit: depthLimit, known: known)
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw ServiceError(.invalidField, sentence(for: error, in: bytes))
        } catch {
            throw ServiceError(.malformedJSON)
        }
    }

    private static func sentence(for error: DecodingError, in bytes: [UInt8]) -> String {
        switch error {
        case .typeMismatch(let type, let context): "\(place(context.codingPath)): expected \(words(for: type))"
        case .valueNotFound(let type, let context): "\(place(context.codingPath)): expected \(words(for: type)), not null"
        case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
        // Foundation names no field for a number that does not fit the type.
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            JSONFraction.path(in: bytes).map { "\(place($0)): expected a whole number" }
                ?? "a number is not whole or out of range, or a value is not one of those allowed"
        case .dataCorrupted(let context): "\(place(context.codingPath)): \(reason(context.debugDescription))"
        @unknown default: "a field has a value that is not allowed"
        }
    }

    static func place(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        return place(text)
    }

    /// How an error names the field at a path of the outline.
    static func place(_ path: String) -> String { path.isEmpty ? "the body" : "field '\(shown(path))'" }

    /// Our own types describe their rule in a sentence that starts small and holds no value. Foundation's sentences start with a
    /// capital and quote the value, so they are replaced.
    private static func reason(_ description: String) -> String {
        description.first?.isLowercase == true ? description : "the value is not one of those allowed"
    }

    private static func words(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any FixedWidthInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [Any].Type: "a list"
        case is [String: Any].Type: "an object"
        default: "a value of another kind"
        }
    }

    /// A field name as it may be shown: printable ASCII, at most 64 characters.
    static func shown(_ name: String) -> String {
        String(name.unicodeScalars.prefix(64).map { (0x20..<0x7F).contains($0.value) && $0 != "'" ? Character($0) : "?" })
    }
}

/// Finds the number of a JSON text that is not whole or does not fit 64 bits. No field of the interfaces takes such a number.
private struct JSONFraction: Decodable {
    /// Leads to the first one; absent when there is none.
    private let path: [any CodingKey]?

    /// The path to such a number in a text that was scanned before.
    static func path(in bytes: [UInt8]) -> [any CodingKey]? {
        (try? JSONDecoder().decode(JSONFraction.self, from: Data(bytes)))?.path
    }

    init(from decoder: any Decoder) throws {
        path = try Self.fraction(in: decoder)
    }

    private static func fraction(in decoder: any Decoder) throws -> [any CodingKey]? {
        if let object = try? decoder.container(keyedBy: Key.self) {
            for key in object.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
                if let found = try object.decode(JSONFraction.self, forKey: key).path { return found }
            }
            return nil
        }
        if var list = try? decoder.unkeyedContainer() {
            while !list.isAtEnd {
                if let found = try list.decode(JSONFraction.self).path { return found }
            }
            return nil
        }
        let value = try decoder.singleValueContainer()
        guard (try? value.decode(Int64.self)) == nil, (try? value.decode(Double.self)) != nil else { return nil }
        return decoder.codingPath
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
