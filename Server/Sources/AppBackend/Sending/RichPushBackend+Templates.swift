import AuditTrail
import RichPushModel
import ServiceErrors
import WireText

/// Notifications that are kept under a name, and sent with values in their places.
extension RichPushBackend {
    /// The most templates of a page.
    public static let templatePageLimit = 100

    /// A page of templates in their latest versions, in the order of their names. `limit` is clamped to 1 … 100, default 50.
    public func messageTemplates(
        after name: String? = nil, limit: Int? = nil, for principal: Principal
    ) async throws -> MessageTemplateList {
        try principal.require(.readTemplates)
        guard name.map(Self.isTemplateName) ?? true else {
            throw ServiceError(.invalidField, "after: a cursor is the next of the page before")
        }
        let limit = min(max(limit ?? 50, 1), Self.templatePageLimit)
        let found = try await parts.store.templates(after: name ?? "", limit: limit + 1)
        let page = found.prefix(limit)
        return MessageTemplateList(
            templates: page.compactMap { try? shown($0) }, next: found.count > limit ? page.last?.name : nil)
    }

    /// One version of a template, or the latest. Throws `not-found`.
    public func messageTemplate(
        _ name: String, version: Int? = nil, for principal: Principal
    ) async throws -> MessageTemplate {
        try principal.require(.readTemplates)
        var template = try shown(try await storedTemplate(name, version: version))
        template.versions = try await parts.store.templateVersions(name)
        return template
    }

    /// Stores the next version of a template. The contents that it names become the app's own: the sender's may expire then.
    ///
    /// Throws what a send of it would throw with sample values; `invalid-field` for a malformed name, place or default; `conflict` when
    /// another version is the latest than the request replaces; `quota-exceeded`.
    public func putMessageTemplate(
        _ name: String, _ request: MessageTemplateRequest, for principal: Principal
    ) async throws -> MessageTemplate {
        try principal.require(.changeTemplates)
        guard Self.isTemplateName(name) else {
            throw ServiceError(.invalidField, "name: it has 1 to 64 of a-z 0-9 -, and begins with a letter or a digit")
        }
        let notification = request.notification
        guard notification.audience == nil, notification.template == nil, notification.expiresAt == nil,
            notification.kind != .sealed
        else {
            throw ServiceError(
                .invalidField, "notification: a template has no audience, no expiresAt and no template, and is not sealed")
        }
        let defaults = request.defaults ?? [:]
        let places = try Self.places(in: notification)
        try Self.check(values: defaults, places: places, "defaults")
        let sample = Dictionary(uniqueKeysWithValues: places.map { ($0, defaults[$0] ?? "1") })
        let filled = try Self.filled(notification, sample)
        try SendRequestCheck(request: filled, now: parts.clock.now).check()
        _ = try await draft(filled, audience: .tag(.user(principal.name)), idempotencyKey: nil, for: principal)
        var draft = TemplateDraft(
            name: name, content: TemplateContent(notification: notification, defaults: defaults),
            createdBy: Self.label(of: principal), replaces: request.replaces)
        try await takeContents(&draft)
        let now = parts.clock.now
        let entry = principal.entry(.templateChanged, at: now, object: name, details: "places=\(places.joined(separator: ","))")
        return try shown(try await parts.store.putTemplate(draft, at: now, audit: entry))
    }

    /// Removes a template with all its versions. What was made from it stays. Throws `not-found`.
    public func removeMessageTemplate(_ name: String, for principal: Principal) async throws {
        try principal.require(.changeTemplates)
        let now = parts.clock.now
        guard
            try await parts.store.removeTemplate(
                name, at: now, audit: principal.entry(.templateRemoved, at: now, object: name))
        else { throw Self.noTemplate }
    }

    /// The notification that a send with these values would be. Throws `not-found`, and `invalid-field` for a value that is missing or
    /// has no place.
    public func preview(_ use: TemplateUse, for principal: Principal) async throws -> SendRequest {
        try principal.require(.readTemplates)
        let content = try await content(of: use)
        let request = try Self.filled(content, use.values ?? [:])
        try SendRequestCheck(request: request, now: parts.clock.now).check()
        return request
    }

    /// The request with all that it takes from its template. A request without a template comes back as it is.
    func expanded(_ request: SendRequest, for principal: Principal) async throws -> SendRequest {
        guard let use = request.template else { return request }
        try principal.require(.readTemplates)
        let content = try await content(of: use)
        return request.over(try Self.filled(content, use.values ?? [:]))
    }

    private func content(of use: TemplateUse) async throws -> TemplateContent {
        guard let content = try await storedTemplate(use.name, version: use.version).content else { throw Self.unreadable }
        return content
    }

    private func storedTemplate(_ name: String, version: Int?) async throws -> StoredTemplate {
        guard let found = try await parts.store.template(name, version: version) else { throw Self.noTemplate }
        return found
    }

    private static let noTemplate = ServiceError(.notFound, "there is no such message template, or not in this version")
    private static let unreadable = ServiceError(.internal, "this version of the server cannot read the message template")

    private func shown(_ stored: StoredTemplate) throws -> MessageTemplate {
        guard let content = stored.content else { throw Self.unreadable }
        return MessageTemplate(
            name: stored.name, version: stored.version, notification: content.notification, defaults: content.defaults,
            placeholders: try Self.places(in: content.notification), author: stored.createdBy, changedAt: stored.createdAt)
    }
}

extension RichPushBackend {
    static func isTemplateName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: "-")
            && name.utf8.allSatisfy { ($0.isASCIILetterOrDigit && !(0x41...0x5A).contains($0)) || $0 == UInt8(ascii: "-") }
    }

    private static func places(in notification: SendRequest) throws -> [String] {
        var names: Set<String> = []
        _ = try notification.mappingTexts { _, text in
            names.formUnion(try PlaceholderText.names(in: text))
            return text
        }
        return names.sorted()
    }

    private static func check(values: [String: String], places: [String], _ field: String) throws(ServiceError) {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard places.contains(name) else {
                throw ServiceError(.invalidField, "\(field): there is no place for '\(name.prefix(PlaceholderText.limits.name))'")
            }
            if !value.isEmpty, let rule = TextRule.fault(of: value, scalars: 1...PlaceholderText.limits.value) {
                throw ServiceError(.invalidField, "\(field): '\(name)' must be \(rule)")
            }
        }
    }

    private static func filled(_ content: TemplateContent, _ values: [String: String]) throws -> SendRequest {
        try check(values: values, places: try places(in: content.notification), "template.values")
        return try filled(content.notification, content.defaults.merging(values) { $1 })
    }

    private static func filled(_ notification: SendRequest, _ values: [String: String]) throws -> SendRequest {
        try notification.mappingTexts { kind, text in
            try PlaceholderText.filled(text, values) { kind == .link ? PercentEncoding.encode($0) : $0 }
        }
    }

    /// Replaces the contents of the sender by contents of the app with the same bytes.
    private func takeContents(_ draft: inout TemplateDraft) async throws {
        for (id, _) in draft.content.notification.contents {
            guard var record = try await parts.store.content(id, at: parts.clock.now) else { throw Self.unseenContent }
            (record.id, record.owner, record.expiresAt) = (Hexadecimal.random(byteCount: 16), .app, nil)
            draft.contents.append(record)
            draft.content.notification.replaceContent(id, with: record.id)
        }
    }

    private static let unseenContent = ServiceError(.notFound, "contentId: there is no such content of yours")
}

extension SendRequest {
    /// Names another content wherever this one is named.
    mutating func replaceContent(_ id: String, with other: String) {
        if contentID == id { contentID = other }
        if thumbID == id { thumbID = other }
        for place in (translations ?? []).indices {
            if translations?[place].contentID == id { translations?[place].contentID = other }
            if translations?[place].thumbID == id { translations?[place].thumbID = other }
        }
    }
}

extension UserID {
    /// Owns what belongs to the app: the contents of message templates, and the default picture. No user has this number.
    static let app = UserID(0)
}
