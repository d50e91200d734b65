#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Finds the number of a JSON text that is not whole or does not fit 64 bits. No field of the interfaces takes such a number.
struct JSONFraction: Decodable {
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
