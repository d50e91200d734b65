/// A notification that is kept under a name, with places for values: the answer of `GET /api/v1/message-templates/{name}`.
public struct MessageTemplate: Hashable, Sendable, Codable {
    /// 1 to 64 of `a-z 0-9 -`, beginning with a letter or a digit.
    public var name: String
    /// Counts the changes, from 1.
    public var version: Int
    /// The versions that are kept, the newest first; absent in a list.
    public var versions: [Int]?
    /// Without audience. In its texts, `{{order}}` is a place for the value `order`.
    public var notification: SendRequest
    /// What stands for values that a send leaves out.
    public var defaults: [String: String]
    /// The values that its texts have places for, in alphabetical order.
    public var placeholders: [String]
    /// Who changed it last.
    public var author: String
    public var changedAt: Timestamp

    /// Creates a template.
    public init(
        name: String, version: Int, versions: [Int]? = nil, notification: SendRequest, defaults: [String: String],
        placeholders: [String], author: String, changedAt: Timestamp
    ) {
        self.name = name
        self.version = version
        self.versions = versions
        self.notification = notification
        self.defaults = defaults
        self.placeholders = placeholders
        self.author = author
        self.changedAt = changedAt
    }
}

/// The body of `PUT /api/v1/message-templates/{name}`.
public struct MessageTemplateRequest: Hashable, Sendable, Codable {
    /// Without audience.
    public var notification: SendRequest
    /// What stands for values that a send leaves out.
    public var defaults: [String: String]?
    /// The version that is replaced: another change in between is not lost, but refused. 0 means that there must be none yet; absent
    /// replaces whatever there is.
    public var replaces: Int?

    /// Creates a request.
    public init(_ notification: SendRequest, defaults: [String: String]? = nil, replaces: Int? = nil) {
        self.notification = notification
        self.defaults = defaults
        self.replaces = replaces
    }
}

/// A page of templates in their latest versions, in the order of their names.
public struct MessageTemplateList: Hashable, Sendable, Codable {
    public var templates: [MessageTemplate]
    /// Pass it as `after` to read on; absent on the last page.
    public var next: String?

    /// Creates a page.
    public init(templates: [MessageTemplate], next: String? = nil) {
        self.templates = templates
        self.next = next
    }
}

/// Which template a send is made from: the field `template` of a send, and the body of
/// `POST /api/v1/message-templates/{name}/preview` without the name.
public struct TemplateUse: Hashable, Sendable, Codable {
    public var name: String
    /// Absent means the latest.
    public var version: Int?
    /// The values of its placeholders, 0 to 500 characters each.
    public var values: [String: String]?

    /// Creates a use.
    public init(name: String, version: Int? = nil, values: [String: String]? = nil) {
        self.name = name
        self.version = version
        self.values = values
    }
}
