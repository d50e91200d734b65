import RichPushModel
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What an installation told of itself for whoever looks after devices. No push depends on it, and no hub is told.
public struct DeviceFacts: Hashable, Sendable, Codable {
    public var locale: String?
    public var appVersion: String?
    public var systemVersion: String?
    public var timeZone: String?
    /// One of `permissions`.
    public var permission: String?
    public var capabilities: [String]?

    private static let permissions: Set = ["granted", "provisional", "denied", "notDetermined"]
    private static let textLimit = 64
    private static let wordLimits = (count: 16, length: 32)

    /// Takes what an update says; `nil` when it says nothing. Throws `invalid-field`.
    public init?(_ update: InstallationUpdate) throws(ServiceError) {
        locale = try Self.checked(update.locale, "locale")
        appVersion = try Self.checked(update.appVersion, "appVersion")
        systemVersion = try Self.checked(update.systemVersion, "systemVersion")
        timeZone = try Self.checked(update.timeZone, "timeZone")
        if let permission = update.permission, !Self.permissions.contains(permission) {
            throw ServiceError(.invalidField, "permission: it is one of \(Self.permissions.sorted().joined(separator: ", "))")
        }
        permission = update.permission
        if let words = update.capabilities { capabilities = try Self.checked(words) }
        let isSilent = [locale, appVersion, systemVersion, timeZone, permission].allSatisfy { $0 == nil } && capabilities == nil
        if isSilent { return nil }
    }

    private static func checked(_ text: String?, _ field: String) throws(ServiceError) -> String? {
        guard let text else { return nil }
        // `format` holds the marks that turn the direction of writing, by which a line shows what it does not say.
        let isPlain = text.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
        guard (1...textLimit).contains(text.unicodeScalars.count), isPlain else {
            throw ServiceError(
                .invalidField, "\(field): it has 1 to \(textLimit) characters, none of them a control or a direction mark")
        }
        return text
    }

    private static func checked(_ words: [String]) throws(ServiceError) -> [String] {
        let isWord = { (word: String) in
            (1...wordLimits.length).contains(word.utf8.count)
                && word.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        }
        guard words.count <= wordLimits.count, words.allSatisfy(isWord) else {
            throw ServiceError(
                .invalidField,
                "capabilities: at most \(wordLimits.count) words of 1 to \(wordLimits.length) of a-z 0-9 -")
        }
        return Array(Set(words)).sorted()
    }

    /// Reads what storage keeps; `nil` for what no version wrote.
    public init?(stored text: String) {
        guard let facts = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = facts
    }

    /// One line of JSON for storage, the same for the same facts.
    public var stored: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }
}
