import AuditTrail
import RichPushModel
import ServiceErrors

/// What one version of a message template says.
public struct TemplateContent: Hashable, Sendable, StoredAsText {
    /// Without audience. Its contents are the app's own.
    public var notification: SendRequest
    public var defaults: [String: String]

    /// Creates a content.
    public init(notification: SendRequest, defaults: [String: String] = [:]) {
        self.notification = notification
        self.notification.audience = nil
        self.defaults = defaults
    }
}

/// A version of a message template that was checked and is to be stored.
public struct TemplateDraft: Hashable, Sendable {
    public var name: String
    public var content: TemplateContent
    /// Contents of the app that it brings along.
    public var contents: [ContentRecord]
    /// Who made it, such as `user ann`.
    public var createdBy: String
    /// The version that must be the latest, 0 for none; absent for any.
    public var replaces: Int?

    /// Creates a draft.
    public init(name: String, content: TemplateContent, contents: [ContentRecord] = [], createdBy: String, replaces: Int? = nil) {
        self.name = name
        self.content = content
        self.contents = contents
        self.createdBy = createdBy
        self.replaces = replaces
    }
}

/// A version of a message template.
public struct StoredTemplate: Hashable, Sendable {
    /// The most templates, and the most versions that are kept of each.
    public static let limits = (templates: 1_000, versions: 20)

    public var name: String
    public var version: Int
    /// `nil` for what another version of the server stored, and this one cannot read.
    public var content: TemplateContent?
    public var createdBy: String
    public var createdAt: Timestamp

    /// Takes a version from storage.
    public init(name: String, version: Int, content: TemplateContent?, createdBy: String, createdAt: Timestamp) {
        self.name = name
        self.version = version
        self.content = content
        self.createdBy = createdBy
        self.createdAt = createdAt
    }
}

/// Keeps message templates in versions. Errors are `ServiceError`.
public protocol MessageTemplateStore: Sendable {
    /// Stores a version, with the next number of its template. The contents that it names do not expire while it is kept. Of a template
    /// only the newest versions are kept.
    ///
    /// Throws `conflict` when another version is the latest than the draft replaces, and `quota-exceeded` for a template too many.
    func putTemplate(_ draft: TemplateDraft, at now: Timestamp, audit entry: AuditEntry?) async throws -> StoredTemplate

    /// One version, or the latest for `nil`.
    func template(_ name: String, version: Int?) async throws -> StoredTemplate?

    /// The numbers of the versions that are kept, the newest first.
    func templateVersions(_ name: String) async throws -> [Int]

    /// The latest versions of templates, in the order of their names.
    func templates(after name: String, limit: Int) async throws -> [StoredTemplate]

    /// Removes all versions. Whether there was one.
    func removeTemplate(_ name: String, at now: Timestamp, audit entry: AuditEntry?) async throws -> Bool
}
