#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import ServiceErrors

/// What the hub has to know of a body for APNs; the bytes themselves go out untouched.
struct PushBody: Decodable {
    /// Whether the body asks for a wake-up and shows, plays and counts nothing: `content-available` 1 and no *non-empty*
    /// alert, sound or badge. (The tutorial's own body carries `"sound":""`.)
    let isSilent: Bool

    /// Reads a body. Throws `malformed-json` unless it is one JSON object.
    init(_ bytes: [UInt8]) throws {
        do {
            self = try JSONDecoder().decode(PushBody.self, from: Data(bytes))
        } catch {
            throw ServiceError(.malformedJSON, "the body of a push must be one JSON object")
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard let aps = try? container.nestedContainer(keyedBy: Key.self, forKey: Key("aps")) else {
            isSilent = false
            return
        }
        let wakes = (try? aps.decode(Int.self, forKey: Key("content-available"))) == 1
        isSilent = wakes && !["alert", "sound", "badge"].contains { Self.isFilled(aps, Key($0)) }
    }

    private static func isFilled(_ container: KeyedDecodingContainer<Key>, _ key: Key) -> Bool {
        guard container.contains(key), (try? container.decodeNil(forKey: key)) != true else { return false }
        if let text = try? container.decode(String.self, forKey: key) { return !text.isEmpty }
        if let inner = try? container.nestedContainer(keyedBy: Key.self, forKey: key) { return !inner.allKeys.isEmpty }
        return true
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }
}
