import Crypto
import PushHub
import RichPushModel
import ServiceErrors
import WireText

/// The push of a rich notification before its number is known: what Apple gets to see, and the headers.
public struct PushTemplate: Hashable, Sendable {
    /// The most bytes of a push body (Reference/APNs.md#3-2).
    public static let maximumBody = 4096

    /// What stands in `aps` beside the switches.
    public struct Visible: Hashable, Sendable {
        /// The alert's texts; only the body when the preview is neutral.
        public var texts: NotificationTexts
        public var sound: String?
        public var badge: Int?
        public var thread: String?
    }

    /// The forms of a push.
    public enum Form: Hashable, Sendable {
        /// Wakes the app and shows nothing: the rich push tutorial's push, to the byte.
        case silent
        /// Shows an alert that the service extension enriches; `wakes` adds `content-available`.
        case alert(Visible, wakes: Bool)
        /// The Notify Users tutorial's plain alert: nothing to fetch.
        case plain(String)
    }

    public var form: Form
    public var kind: ContentKind
    /// The sender's text, only when the preview is open.
    public var openMessage: String?
    /// The one user whom the audience names; their phones recognise it by `SubjectMark`. Absent from the rich push tutorial's own
    /// pushes, whose bytes are fixed.
    public var subject: UserName?
    public var collapseID: String?
    public var expiresAt: Timestamp?

    /// Creates a template.
    public init(
        form: Form, kind: ContentKind, openMessage: String? = nil, subject: UserName? = nil, collapseID: String? = nil,
        expiresAt: Timestamp? = nil
    ) {
        self.form = form
        self.kind = kind
        self.openMessage = openMessage
        self.subject = subject
        self.collapseID = collapseID
        self.expiresAt = expiresAt
    }

    /// The push of the notification with this number.
    public func message(for id: RichID) -> PushMessage {
        let isSilent = form == .silent
        return PushMessage(
            body: Array(json(for: id).utf8), pushType: isSilent ? "background" : "alert", priority: isSilent ? 5 : 10,
            collapseID: collapseID, expiresAt: expiresAt)
    }

    /// Throws `payload-too-large` when the push of the largest number does not fit.
    func checkSize() throws {
        guard let largest = RichID(number: .max) else { return }
        let size = json(for: largest).utf8.count
        guard size <= Self.maximumBody else {
            throw ServiceError(
                .payloadTooLarge,
                "the push would have \(size) bytes, \(Self.maximumBody) are allowed; shorten the texts or use preview neutral")
        }
    }

    private func json(for id: RichID) -> String {
        if case .plain(let text) = form {
            return JSONText.object([("aps", JSONText.object([("alert", JSONText.string(text))]))])
        }
        return JSONText.object([
            ("aps", aps), (SubjectMark.key, mark(of: id).map { JSONText.string($0.text) }),
            ("richId", JSONText.string(id.description)), ("richMessage", openMessage.map(JSONText.string)),
            ("richType", JSONText.string(kind.rawValue)),
        ])
    }

    private func mark(of id: RichID) -> SubjectMark? {
        guard let subject else { return nil }
        return SubjectMark(digest: SHA256.hash(data: SubjectMark.message(of: id, for: subject.text)))
    }

    private var aps: String {
        guard case .alert(let visible, let wakes) = form else { return JSONText.object([("content-available", "1")]) }
        return JSONText.object([
            ("alert", Self.alert(visible.texts)), ("badge", visible.badge.map(String.init)),
            ("category", JSONText.string(PushEnvelope.category)), ("content-available", wakes ? "1" : nil),
            ("mutable-content", "1"), ("sound", visible.sound.map(JSONText.string)),
            ("thread-id", visible.thread.map(JSONText.string)),
        ])
    }

    private static func alert(_ texts: NotificationTexts) -> String {
        JSONText.object([
            ("title", texts.title.map(JSONText.string)), ("subtitle", texts.subtitle.map(JSONText.string)),
            ("body", JSONText.string(texts.message)),
        ])
    }
}
