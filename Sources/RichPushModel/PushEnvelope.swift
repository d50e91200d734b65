#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The part of a push that rich push understands, as a phone reads it. Apple's own keys are left to the system.
public struct PushEnvelope: Hashable, Sendable, Codable {
    /// Category and action names that both sides use (they are the rich push tutorial's).
    public static let category = "richPush"
    /// The action behind the button "More".
    public static let moreAction = "richPushMore"
    /// The action behind the field in which the user answers, in apps that offer one.
    public static let replyAction = "richPushReply"

    /// The notification to fetch.
    public var id: RichID
    public var kind: ContentKind
    /// The sender's words when the preview is open, else empty.
    public var message: String
    /// For whom it is, when it is for one user; absent from pushes to several, from the rich push tutorial's own and from older
    /// servers.
    public var subject: SubjectMark?
    /// Whether the system shows this push itself. If it does, the app must not show it again.
    public var hasAlert: Bool
    /// Whether the push asks the system to wake the app.
    public var wakesApp: Bool

    /// Creates an envelope.
    public init(
        id: RichID, kind: ContentKind, message: String = "", subject: SubjectMark? = nil, hasAlert: Bool, wakesApp: Bool
    ) {
        self.id = id
        self.kind = kind
        self.message = message
        self.subject = subject
        self.hasAlert = hasAlert
        self.wakesApp = wakesApp
    }

    /// Reads the JSON of a push; `nil` when it is not a rich push. Every value is type-checked, since a push payload may
    /// hold anything.
    public init?(payload: Data) {
        guard let wire = try? JSONDecoder().decode(Wire.self, from: payload), let id = wire.richId else { return nil }
        self.init(
            id: id, kind: ContentKind(rawValue: wire.richType ?? "file"), message: wire.richMessage ?? "",
            subject: wire.richFor, hasAlert: wire.aps?.hasAlert ?? false, wakesApp: wire.aps?.contentAvailable ?? false)
    }

    private struct Wire: Decodable {
        var richId: RichID?
        var richType: String?
        var richMessage: String?
        var richFor: SubjectMark?
        var aps: Aps?

        private enum CodingKeys: String, CodingKey { case richId, richType, richMessage, richFor, aps }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            richId = try? container.decode(RichID.self, forKey: .richId)
            richType = try? container.decode(String.self, forKey: .richType)
            richMessage = try? container.decode(String.self, forKey: .richMessage)
            richFor = try? container.decode(SubjectMark.self, forKey: .richFor)
            aps = try? container.decode(Aps.self, forKey: .aps)
        }
    }

    private struct Aps: Decodable {
        var hasAlert: Bool
        var contentAvailable: Bool

        private enum CodingKeys: String, CodingKey { case alert, contentAvailable = "content-available" }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            contentAvailable = (try? container.decode(Int.self, forKey: .contentAvailable)) == 1
            if let text = try? container.decode(String.self, forKey: .alert) {
                hasAlert = !text.isEmpty
            } else {
                hasAlert = (try? container.nestedContainer(keyedBy: CodingKeys.self, forKey: .alert)) != nil
            }
        }
    }
}
