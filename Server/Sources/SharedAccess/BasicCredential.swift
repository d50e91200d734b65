#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// User name and password of an `Authorization: Basic` header (RFC 7617), read as UTF-8. Never printed.
public struct BasicCredential: Sendable, Equatable {
    /// The most bytes of a header value that are looked at.
    public static let maximumHeaderLength = 4096
    /// The most bytes of a password.
    public static let maximumPasswordLength = 1024

    public let user: String
    public let password: String

    /// Reads the value of the header; `nil` when it is another scheme, too long, not base64, not UTF-8, without a colon, with
    /// an empty name, or holds control characters (RFC 7617 section 2 forbids them).
    public init?(header: String) {
        guard header.utf8.count <= Self.maximumHeaderLength, let blank = header.firstIndex(of: " "),
            header[..<blank].lowercased() == "basic"
        else { return nil }
        let encoded = header[blank...].drop { $0 == " " }
        guard let data = Data(base64Encoded: Self.padded(encoded)), let text = String(validating: data, as: UTF8.self),
            let colon = text.unicodeScalars.firstIndex(of: ":")
        else { return nil }
        let user = String(text.unicodeScalars[..<colon])
        let password = String(text.unicodeScalars[text.unicodeScalars.index(after: colon)...])
        guard !user.isEmpty, password.utf8.count <= Self.maximumPasswordLength, !Self.hasControls(text) else { return nil }
        self.user = user
        self.password = password
    }

    private static func padded(_ text: Substring) -> String {
        text.hasSuffix("=") ? String(text) : text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}

extension BasicCredential: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "basic credential (not shown)" }
    public var debugDescription: String { description }
}
