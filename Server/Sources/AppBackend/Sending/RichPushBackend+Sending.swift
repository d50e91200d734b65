import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import WireText

extension RichPushBackend {
    /// The rich push tutorial's send: "Check this image out!" with the configured picture, silently, to the caller's own devices.
    /// Throws `not-ready` when no picture is configured.
    public func sendDefaultPicture(idempotencyKey: String? = nil, for principal: Principal) async throws -> SendAnswer {
        try principal.require(.send)
        let message = parts.settings.defaultMessage
        let rule = AudienceRule(principal: principal)
        let audience = try rule.audience(of: nil)
        let key = try checkedKey(
            idempotencyKey, form: "picture", request: SendRequest(message: message), content: nil, thumb: nil)
        if let earlier = try await repeated(key, rule, for: principal) { return earlier }
        try countSend(of: principal)
        var picture = try await currentDefaultPicture()
        // Each send has its own row for the same stored bytes, so that recalling one touches no other.
        let bytes = StoredBytes(digest: picture.digest, byteCount: picture.byteCount)
        picture = try await stage(bytes, mediaType: picture.mediaType, fileName: picture.fileName, for: principal)
        let push = PushTemplate(form: .silent, kind: .image, openMessage: message)
        let draft = RichNotificationDraft(
            sender: principal.userID, senderName: principal.name, kind: .image, style: .silent,
            texts: NotificationTexts(message: message), contentID: picture.id, audience: audience, push: push,
            nonce: Hexadecimal.random(byteCount: 16), idempotencyKey: key)
        return try await accept(draft, rule)
    }

    /// The Notify Users tutorial's send button: the plain alert "From NAME: text" to the devices of `user`. `platform` must be
    /// `apns`.
    public func sendText(
        _ text: String, platform: String, toUser user: String, idempotencyKey: String? = nil, for principal: Principal
    ) async throws -> SendAnswer {
        try principal.require(.send)
        _ = try Self.platform(platform)
        let rule = AudienceRule(principal: principal)
        let audience = try rule.audience(ofUser: user)
        var request = SendRequest(message: text)
        request.audience = "\(audience)"
        let key = try checkedKey(idempotencyKey, form: "text", request: request, content: nil, thumb: nil)
        if let earlier = try await repeated(key, rule, for: principal) { return earlier }
        try SendRequestCheck(request: SendRequest(message: text), now: parts.clock.now).check()
        try countSend(of: principal)
        let push = PushTemplate(form: .plain("From \(principal.name): \(text)"), kind: .text)
        try push.checkSize()
        let draft = RichNotificationDraft(
            sender: principal.userID, senderName: principal.name, kind: .text, style: .alert,
            texts: NotificationTexts(message: text), audience: audience, push: push,
            nonce: Hexadecimal.random(byteCount: 16), idempotencyKey: key)
        return try await accept(draft, rule)
    }

    /// Sends. With an idempotency key (1 to 128 visible ASCII characters, scoped to the user) a retry of the same request gets
    /// the first answer; the same key with another request throws `idempotency-mismatch`.
    ///
    /// Throws `invalid-field`, `invalid-audience`, `forbidden`, `payload-too-large`; `not-found` for content that is not the
    /// caller's; `outcome-unknown` when the send is stored but the hub did not confirm it yet: it will be sent.
    public func send(
        _ request: SendRequest, idempotencyKey: String?, for principal: Principal
    ) async throws -> SendAnswer {
        try principal.require(.send)
        let rule = AudienceRule(principal: principal)
        let audience = try rule.audience(of: request.audience)
        // The key stands for the request as it was sent: the template may have changed by the time of a retry.
        let key = try await templateKey(idempotencyKey, of: request)
        if let key, let earlier = try await repeated(key, rule, for: principal) { return earlier }
        let request = try await expanded(request, for: principal)
        // A retry that arrives after the expiry it asks for still gets its answer, so the clock counts for the first only.
        let checked = Result { try SendRequestCheck(request: request, now: parts.clock.now).check() }
        if idempotencyKey == nil { try checked.get() }
        if case .failure(let error) = checked, request.expiresAt.map({ $0 > parts.clock.now }) ?? true { throw error }
        var draft = try await draft(request, audience: audience, idempotencyKey: idempotencyKey, for: principal)
        if let key { draft.idempotencyKey = key }
        if let earlier = try await repeated(draft.idempotencyKey, rule, for: principal) { return earlier }
        try checked.get()
        draft.cap = try cap(of: request)
        try await requireApproval(of: audience, for: principal)
        try countSend(of: principal)
        draft.takeContents(of: try await withWrittenContent(request, for: principal))
        return try await accept(draft, rule)
    }

    /// The key of a send from a template; `nil` for any other, and without a key.
    private func templateKey(_ key: String?, of request: SendRequest) async throws -> IdempotencyKey? {
        guard request.template != nil, key != nil else { return nil }
        func stored(_ id: String?) async throws -> ContentRecord? {
            guard let id else { return nil }
            return try await parts.store.content(id, at: parts.clock.now)
        }
        return try checkedKey(
            key, form: "template", request: request, content: try await stored(request.contentID),
            thumb: try await stored(request.thumbID))
    }

    /// Recalls what the caller sent (an admin: anything): the content is gone, it leaves every inbox, the push is cancelled.
    /// Throws `not-found` for anything else, and for what was recalled before.
    public func recall(_ id: RichID, for principal: Principal) async throws {
        let notification = try await managed(id, by: principal)
        let now = parts.clock.now
        guard
            try await parts.store.recall(
                id, at: now, contentExpiry: now, audit: principal.entry(.sendRecalled, at: now, object: "\(id)"))
        else { throw Self.unseen }
        parts.observer?.observed(.recalled(id))
        // The recall holds already; if the hub cannot be reached now, the upkeep cancels later.
        do { try await outbox.cancel(notification.id) } catch {
            parts.logger.warning("A recalled notification is not cancelled at the hub yet", metadata: ["rich_id": "\(id)"])
        }
    }
}

extension RichPushBackend {
    /// How many devices a send of the caller to this audience would reach now; absent means the caller's own devices. A count is
    /// refused where such a send would be. It counts as one for the caller's limit of sends: it costs the hub about as much.
    ///
    /// Throws `invalid-audience`, `forbidden`, `too-many-requests`; `conflict` where the hub is elsewhere and does not count.
    public func countAudience(_ text: String?, for principal: Principal) async throws -> AudienceCount {
        try principal.require(.countAudience)
        let audience = try AudienceRule(principal: principal).audience(of: text)
        try countSend(of: principal)
        return try await parts.hub.count(audience)
    }

    /// Throws `approval-required` when a person sends to more devices than they may alone. A service key stands for no person.
    func requireApproval(of audience: TagExpression, for principal: Principal) async throws {
        guard let limit = parts.settings.approvalAbove, principal.key == nil else { return }
        let count = try await parts.hub.count(audience)
        guard count.targets > limit || !count.isComplete else { return }
        let number = count.isComplete ? "\(count.targets)" : "at least \(count.targets)"
        throw ServiceError(
            .approvalRequired,
            "the audience has \(number) devices, and a send to more than \(limit) needs the approval of another person")
    }

    var outbox: SendOutbox { SendOutbox(parts: parts) }

    /// Throws `too-many-requests` when the caller has begun as many sends as their role may in a minute. A retry is no new send.
    func countSend(of principal: Principal) throws(ServiceError) {
        let settings = parts.settings
        let perMinute = principal.role == .user ? settings.userSendsPerMinute : settings.senderSendsPerMinute
        try sends.take(principal.userID, perMinute: perMinute, at: parts.clock.uptime)
    }

    /// Stores a draft and hands it to the hub.
    func accept(_ draft: RichNotificationDraft, _ rule: AudienceRule) async throws -> SendAnswer {
        let now = parts.clock.now
        // For a repeat of an earlier send nothing is written, not even this entry.
        let entry = rule.principal.entry(
            .sendAccepted, at: now, details: "kind=\(draft.kind.rawValue) audience=\(draft.audience)")
        return try await answer(try await parts.store.accept(draft, at: now, audit: entry), rule)
    }

    /// The answer that an earlier request under the key got.
    private func repeated(_ key: IdempotencyKey?, _ rule: AudienceRule, for principal: Principal) async throws -> SendAnswer? {
        guard let key, let earlier = try await parts.store.repeated(key, of: principal.userID) else { return nil }
        return try await answer(earlier, rule)
    }

    private func answer(_ acceptance: Acceptance, _ rule: AudienceRule) async throws -> SendAnswer {
        switch acceptance {
        case .accepted(let notification), .repeated(let notification):
            let trackingID = try await outbox.deliver(notification)
            return SendAnswer(
                id: notification.id, trackingID: trackingID.text,
                readableBy: rule.readers(of: notification.audience, notification.kind))
        case .repeatMismatch:
            throw ServiceError(.idempotencyMismatch, "this Idempotency-Key was used for another request")
        }
    }
}

extension RichPushBackend {
    /// Sends a receiver's reply to the sender of the notification, as a plain text. A retried
    /// reply is delivered once. It is the only thing that an installation credential can send, and only to that one user.
    ///
    /// Throws `not-found` for a notification that the caller may not read, and when its sender is gone; `invalid-field`.
    public func reply(_ reply: Reply, to id: RichID, for principal: Principal) async throws {
        try principal.require(.reply)
        let (notification, _) = try await readable(id, for: principal)
        guard (1...64).contains(reply.id.utf8.count), InstallationID(reply.id) != nil else {
            throw ServiceError(.invalidField, "id: it has 1 to 64 of A-Z a-z 0-9 _ -")
        }
        var request = SendRequest(message: reply.text)
        request.thread = "reply-\(id)"
        try SendRequestCheck(request: request, now: parts.clock.now).check()
        guard let sender = try await parts.store.user(notification.sender) else { throw Self.unseen }
        let audience = TagExpression.tag(.user(sender.name))
        let neutral = NotificationTexts(message: parts.settings.neutralText)
        let push = PushTemplate(
            form: .alert(.init(texts: neutral, sound: "default", thread: request.thread), wakes: false), kind: .text,
            subject: sender.name)
        try push.checkSize()
        try countSend(of: principal)
        let draft = RichNotificationDraft(
            sender: principal.userID, senderName: principal.name, kind: .text, style: .alert,
            texts: NotificationTexts(title: principal.name.text, message: reply.text), audience: audience, push: push,
            nonce: Hexadecimal.random(byteCount: 16),
            idempotencyKey: try checkedKey("reply:\(reply.id)", form: "reply \(id)", request: request, content: nil, thumb: nil))
        _ = try await accept(draft, AudienceRule(principal: principal))
    }
}

/// Checks the fields of a send that need nothing but the request. Every error names its field.
struct SendRequestCheck {
    var request: SendRequest
    var now: Timestamp

    /// Throws `invalid-field` for the first mistake.
    func check() throws {
        if request.kind == .sealed { return try checkSealed() }
        guard request.id == nil else { throw Self.wrong("id", "absent unless the kind is sealed") }
        try Self.text(request.message, "message", TextRule.message)
        try Self.text(request.title, "title", TextRule.title)
        try Self.text(request.subtitle, "subtitle", TextRule.title)
        try Self.text(request.altText, "altText", TextRule.altText)
        try checkKind()
        try checkHeaders()
        try checkVisible()
        try checkContent()
        try checkTranslations()
    }

    static let languageRule = "a language tag such as pt-BR"

    /// Checks each translation together with the fields that it takes from the request.
    private func checkTranslations() throws {
        let translations = request.translations ?? []
        guard translations.count <= PushTranslation.limit else {
            throw Self.wrong("translations", "a list of at most \(PushTranslation.limit)")
        }
        try checkSplit()
        var known: Set<TranslationKey> = []
        for (place, translation) in translations.enumerated() {
            let field = "translations[\(place)]"
            guard try known.insert(request.key(of: translation, field)).inserted else {
                throw Self.wrong("\(field).language", "another than those before")
            }
            try ServiceError.inside(field) {
                try SendRequestCheck(request: request.translated(by: translation), now: now).check()
            }
        }
        try checkGroups(of: translations)
    }

    private func checkSplit() throws {
        guard let split = request.split else { return }
        guard (1...PushSplit.limit).contains(split.groups.count) else {
            throw Self.wrong("split.groups", "a list of 1 to \(PushSplit.limit)")
        }
        var known: Set<String> = []
        for (place, group) in split.groups.enumerated() {
            let isName = group.name.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
            guard (1...32).contains(group.name.utf8.count), isName else {
                throw Self.wrong("split.groups[\(place)].name", "1 to 32 letters, digits, hyphens and underscores")
            }
            guard known.insert(group.name).inserted else {
                throw Self.wrong("split.groups[\(place)].name", "another than those before")
            }
            guard (1...100).contains(group.percent) else {
                throw Self.wrong("split.groups[\(place)].percent", "a number from 1 to 100")
            }
        }
        guard split.groups.reduce(0, { $0 + $1.percent }) <= 100 else {
            throw ServiceError(.invalidField, "split.groups: together they have more than a hundred percent")
        }
        guard split.key.map({ $0.utf8.count <= 64 && HeaderText.isTopic($0) }) ?? true else {
            throw Self.wrong("split.key", "1 to 64 letters, digits, dots, hyphens and underscores")
        }
    }

    /// A group's readers in any other language need a text.
    private func checkGroups(of translations: [SendTranslation]) throws {
        for group in Set(translations.compactMap(\.group)).sorted()
        where !translations.contains(where: { $0.group == group && $0.language == nil }) {
            throw ServiceError(.invalidField, "translations: the group \(group) needs one without a language")
        }
    }

    /// A sealed request that repeats its text in clear is a mistake that cannot be undone later, so it is refused.
    private func checkSealed() throws {
        guard request.message.isEmpty, request.title == nil, request.subtitle == nil, request.altText == nil,
            request.link == nil, request.coupon == nil, request.translations == nil, request.split == nil
        else {
            throw ServiceError(
                .invalidField,
                "message: it must be empty for kind sealed, and title, subtitle, altText, link, coupon, split and translations absent"
            )
        }
        guard request.preview != .open else { throw Self.wrong("preview", "neutral for kind sealed") }
        guard request.contentID != nil else { throw Self.wrong("contentId", "present for this kind") }
        guard request.id != nil else { throw Self.wrong("id", "the number that the envelope is sealed under") }
        try checkHeaders()
        try checkVisible()
    }

    private func checkKind() throws {
        if let kind = request.kind, !ContentKind.known.contains(kind) {
            throw Self.wrong("kind", "one of \(ContentKind.known.map(\.rawValue).joined(separator: ", "))")
        }
    }

    private func checkHeaders() throws {
        if let expiresAt = request.expiresAt, expiresAt <= now { throw Self.wrong("expiresAt", "a moment in the future") }
        if let pace = request.pushesPerSecond, !SendCommand.paceRange.contains(pace) {
            throw Self.wrong("pushesPerSecond", "a whole number from 1 to 100000")
        }
        guard let collapseID = request.collapseID else { return }
        // It becomes a header, so control characters and anything but ASCII stay out.
        guard (1...64).contains(collapseID.utf8.count), collapseID.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            collapseID.first != " ", collapseID.last != " "
        else { throw Self.wrong("collapseId", "1 to 64 bytes of printable ASCII without a blank at either end") }
    }

    private func checkVisible() throws {
        if request.style == .silent, request.sound != nil || request.badge != nil {
            throw ServiceError(.invalidField, "style: a silent push carries neither sound nor badge")
        }
        if let sound = request.sound {
            let isName = sound.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "/" && $0 != "\\" }
            guard (1...64).contains(sound.utf8.count), isName else {
                throw Self.wrong("sound", "the name of a sound file of the app, at most 64 bytes")
            }
        }
        if let badge = request.badge, !(0...99_999).contains(badge) { throw Self.wrong("badge", "a number from 0 to 99999") }
        if let thread = request.thread, !(1...64).contains(thread.utf8.count) { throw Self.wrong("thread", "1 to 64 bytes") }
    }

    private func checkContent() throws {
        let given = [request.contentID != nil, request.link != nil, request.coupon != nil].filter { $0 }.count
        guard given <= 1 else {
            throw ServiceError(.invalidField, "contentId, link and coupon: at most one of them makes the content")
        }
        if request.link != nil, request.kind != nil, request.kind != .link {
            throw Self.wrong("kind", "url when there is a link")
        }
        if request.coupon != nil, request.kind != nil, request.kind != .coupon {
            throw Self.wrong("kind", "coupon when there is a coupon")
        }
        if request.kind == .link, request.link == nil { throw Self.wrong("link", "present for kind url") }
        if request.kind == .coupon, request.coupon == nil { throw Self.wrong("coupon", "present for kind coupon") }
        if request.kind == .text, given > 0 { throw Self.wrong("kind", "another than text when there is content") }
        let needsBytes = request.kind.map { [.image, .sound, .video, .file].contains($0) } ?? false
        if needsBytes, request.contentID == nil { throw Self.wrong("contentId", "present for this kind") }
        if let rule = request.link.flatMap(LinkAddressRule.fault) { throw Self.wrong("link", rule) }
        if let fault = request.coupon.flatMap(TextRule.fault) { throw Self.wrong(fault.field, fault.rule) }
    }

    private static func text(_ value: String?, _ field: String, _ scalars: ClosedRange<Int>) throws {
        if let rule = TextRule.fault(of: value, scalars: scalars) { throw wrong(field, rule) }
    }

    static func wrong(_ field: String, _ rule: String) -> ServiceError {
        ServiceError(.invalidField, "\(field): it must be \(rule)")
    }
}
