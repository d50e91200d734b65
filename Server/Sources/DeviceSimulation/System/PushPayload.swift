#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RichPushDevice

/// Apple's part of a push, as the system reads it (APNs reference 6.1, 6.2). Every value may be of any type.
struct PushPayload: Hashable, Sendable {
    var title = ""
    var subtitle = ""
    var body = ""
    var hasAlert = false
    var badge: Int?
    var thread: String?
    var category: String?
    var isContentAvailable = false
    var isMutable = false
    /// `time-sensitive` or `critical`.
    var isUrgent = false

    /// Reads a payload; what cannot be read is absent, as on a phone.
    init(_ data: Data) {
        guard let wire = try? JSONDecoder().decode(Wire.self, from: data), let aps = wire.aps else { return }
        self = aps.payload
    }

    private init() {}

    /// What decides over an alert.
    var traits: SystemEvent.AlertTraits { .init(isMutable: isMutable, badge: badge, isUrgent: isUrgent) }

    /// What the system shows without an extension.
    var notice: NoticeContent {
        NoticeContent(title: title, subtitle: subtitle, body: body, thread: thread, category: category, badge: badge)
    }

    private struct Wire: Decodable {
        var aps: Aps?
    }

    private struct Aps: Decodable {
        var payload = PushPayload()

        private enum Key: String, CodingKey {
            case alert, badge, category, thread = "thread-id", contentAvailable = "content-available"
            case mutableContent = "mutable-content", level = "interruption-level"
        }

        private enum AlertKey: String, CodingKey { case title, subtitle, body }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            payload.badge = try? values.decode(Int.self, forKey: .badge)
            payload.thread = try? values.decode(String.self, forKey: .thread)
            payload.category = try? values.decode(String.self, forKey: .category)
            payload.isContentAvailable = (try? values.decode(Int.self, forKey: .contentAvailable)) == 1
            payload.isMutable = (try? values.decode(Int.self, forKey: .mutableContent)) == 1
            let level = try? values.decode(String.self, forKey: .level)
            payload.isUrgent = level == "time-sensitive" || level == "critical"
            if let text = try? values.decode(String.self, forKey: .alert) {
                payload.body = text
            } else if let alert = try? values.nestedContainer(keyedBy: AlertKey.self, forKey: .alert) {
                payload.title = (try? alert.decode(String.self, forKey: .title)) ?? ""
                payload.subtitle = (try? alert.decode(String.self, forKey: .subtitle)) ?? ""
                payload.body = (try? alert.decode(String.self, forKey: .body)) ?? ""
            }
            payload.hasAlert = !(payload.title + payload.subtitle + payload.body).isEmpty
        }
    }
}
