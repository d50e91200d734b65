#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RichPushDevice

/// Apple's part of a push, as the system reads it (Reference/APNs.md#6-1 and #6-2). Every value may be of any type.
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
    /// Why the system has nothing to do with it; `nil` when it has.
    private(set) var idleReason: String? = "The phone cannot read the push: it is no JSON object"

    /// Reads a payload; what cannot be read is absent, as on a phone.
    init(_ data: Data) {
        guard let wire = try? JSONDecoder().decode(Wire.self, from: data) else { return }
        guard let aps = wire.aps else {
            idleReason = "There is no object 'aps' in the push, so the system does nothing with it"
            return
        }
        self = aps.payload
        idleReason = aps.idleReason
    }

    private init() {}

    /// What decides over an alert.
    var traits: SystemEvent.AlertTraits { .init(isMutable: isMutable, badge: badge, isUrgent: isUrgent) }

    /// What the system shows without an extension.
    var notice: NotificationContent {
        NotificationContent(title: title, subtitle: subtitle, body: body, thread: thread, category: category, badge: badge)
    }

    private struct Wire: Decodable {
        var aps: Aps?

        private enum Key: String, CodingKey { case aps }

        /// An `aps` of another type counts as absent.
        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            aps = try? values.decode(Aps.self, forKey: .aps)
        }
    }

    private struct Aps: Decodable {
        var payload = PushPayload()
        /// Whether the alert names texts that lie in an app.
        private var isLocalised = false
        private var hasSound = false

        private enum Key: String, CodingKey {
            case alert, badge, category, sound, thread = "thread-id", contentAvailable = "content-available"
            case mutableContent = "mutable-content", level = "interruption-level"
        }

        private enum AlertKey: String, CodingKey {
            case title, subtitle, body
            case titleKey = "title-loc-key", subtitleKey = "subtitle-loc-key", bodyKey = "loc-key"
        }

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
                isLocalised = [.titleKey, .subtitleKey, .bodyKey].contains(where: alert.contains)
            }
            hasSound = values.contains(.sound)
            payload.hasAlert = !(payload.title + payload.subtitle + payload.body).isEmpty
        }

        var idleReason: String? {
            guard !payload.hasAlert, !payload.isContentAvailable, payload.badge == nil else { return nil }
            if isLocalised { return "The alert names texts of the app (loc-key), and the app on this phone has none" }
            if hasSound { return "There is only a sound in the push; this phone makes none, and there is nothing to show" }
            return "There is nothing to show in the push, and nothing that wakes the app"
        }
    }
}
