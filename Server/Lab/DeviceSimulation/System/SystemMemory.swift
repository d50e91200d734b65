#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the operating system remembers of the app over a restart of the phone: the user's answers, the registered buttons, the
/// number on the icon and who used it. What was delivered lies in a `NoticeFile`.
struct SystemMemory: Hashable, Sendable {
    struct Category: Hashable, Sendable, Codable {
        var identifier: String
        var actions: [PhoneSnapshot.Notice.Action]
        var reportsDismissal: Bool
        var hiddenPreviewText: String
    }

    /// Its name in the folder of a phone.
    static let fileName = "system.json"

    var settings = SystemSettings()
    var categories: [Category] = []
    var isInstalled = true
    /// The number on the icon.
    var badge = 0
    /// Who was signed in when the app ran last. A phone does not know it; whoever looks at the simulated one wants to.
    var user: String?

    /// Reads it; a file that is missing or broken is as good as a new phone.
    static func read(_ file: URL) -> SystemMemory {
        (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(SystemMemory.self, from: $0) } ?? SystemMemory()
    }

    func write(_ file: URL) { try? JSONEncoder().encode(self).write(to: file, options: .atomic) }
}

extension SystemMemory: Codable {
    private enum Key: String, CodingKey { case categories, installed, badge, user }

    /// The settings stand beside the rest, as they always did.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        settings = try SystemSettings(from: decoder)
        categories = try values.decodeIfPresent([Category].self, forKey: .categories) ?? []
        isInstalled = try values.decodeIfPresent(Bool.self, forKey: .installed) ?? true
        badge = try values.decodeIfPresent(Int.self, forKey: .badge) ?? 0
        user = try values.decodeIfPresent(String.self, forKey: .user)
    }

    func encode(to encoder: any Encoder) throws {
        try settings.encode(to: encoder)
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(categories, forKey: .categories)
        try values.encode(isInstalled, forKey: .installed)
        try values.encode(badge, forKey: .badge)
        try values.encodeIfPresent(user, forKey: .user)
    }
}
