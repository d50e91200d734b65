import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension JSONValue {
    /// Reads a text of JSON; `nil` for any other text.
    package init?(json text: [UInt8]) {
        guard let value = try? JSONDecoder().decode(Self.self, from: Data(text)) else { return nil }
        self = value
    }

    /// A text that is not empty.
    package var text: String? { if case .text(let text) = self, !text.isEmpty { text } else { nil } }

    /// The elements of a list; empty for anything else.
    package var elements: [JSONValue] { if case .list(let elements) = self { elements } else { [] } }
}
