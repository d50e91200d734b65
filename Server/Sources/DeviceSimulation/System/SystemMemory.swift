#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the operating system remembers of the app over a restart of the phone: the user's answers and the registered buttons.
struct SystemMemory: Hashable, Sendable, Codable {
    struct Category: Hashable, Sendable, Codable {
        var identifier: String
        var actions: [PhoneSnapshot.Notice.Action]
        var reportsDismissal: Bool
        var hiddenPreviewText: String
    }

    var permission = PhoneSnapshot.Permission.notDetermined
    var backgroundRefresh = true
    var hidesPreviews = false
    var categories: [Category] = []

    /// Reads it; a file that is missing or broken is as good as a new phone.
    static func read(_ file: URL) -> SystemMemory {
        (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(SystemMemory.self, from: $0) } ?? SystemMemory()
    }

    func write(_ file: URL) { try? JSONEncoder().encode(self).write(to: file, options: .atomic) }
}
