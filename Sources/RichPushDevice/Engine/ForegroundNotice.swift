import RichPushModel

/// A notification that the system is about to show while the app is in the foreground.
public struct ForegroundNotice: Hashable, Sendable, Codable {
    public var identifier: String
    /// The rich notification behind it, if any.
    public var richID: RichID?
    /// For whom the push behind it is, as far as it says so.
    public var subject: SubjectMark?
    public var content: NoticeContent

    /// Describes a notification.
    public init(identifier: String, richID: RichID?, subject: SubjectMark? = nil, content: NoticeContent) {
        self.identifier = identifier
        self.richID = richID
        self.subject = subject
        self.content = content
    }
}
