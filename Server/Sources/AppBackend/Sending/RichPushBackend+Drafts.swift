import Crypto
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushBackend {
    /// Checks everything about a send and makes what is stored of it.
    func draft(
        _ request: SendRequest, audience: TagExpression, idempotencyKey: String?, for principal: Principal
    ) async throws -> RichNotificationDraft {
        let (content, thumb, kind) = try await ownContents(of: request, for: principal)
        let push = pushTemplate(of: request, kind: kind, audience: audience)
        try push.checkSize()
        let key = try checkedKey(idempotencyKey, form: "send", request: request, content: content, thumb: thumb)
        var draft = RichNotificationDraft(
            sender: principal.userID, senderName: principal.name, kind: kind, style: request.style ?? .alert,
            texts: request.texts, contentID: content?.id, thumbID: thumb?.id, audience: audience, expiresAt: request.expiresAt,
            pushesPerSecond: request.pushesPerSecond, push: push,
            nonce: Hexadecimal.random(byteCount: 16), idempotencyKey: key, number: request.id)
        if kind == .sealed { draft.texts.message = parts.settings.neutralText }
        draft.translations = try await translations(of: request, kind: kind, audience: audience, for: principal)
        if var split = request.split {
            split.key = split.key ?? draft.nonce
            draft.split = split
        }
        guard parts.hub.decidesForDevices || !draft.hasTranslatedPush && draft.split == nil else {
            throw ServiceError(
                .conflict,
                "translations: the hub elsewhere has one push for all devices; use preview neutral without groups, or several sends"
            )
        }
        let (quiet, keepsUserHours) = (parts.settings.quietHours, parts.settings.userQuietHours)
        if draft.style != .silent, request.transactional != true, quiet != nil || keepsUserHours {
            var local = LocalDelivery(fallbackZone: parts.settings.quietHoursZone, notBefore: parts.clock.now, quiet: quiet)
            local.keepsUserHours = keepsUserHours ? true : nil
            draft.localTime = local
        }
        return draft
    }

    /// The frequency cap that the request names. A transactional send has none. It is not part of `draft`, since the settings may be others by
    /// the time of a retry.
    func cap(of request: SendRequest) throws -> FrequencyCap? {
        guard let name = request.frequencyCap else { return nil }
        guard let cap = parts.settings.frequencyCaps.first(where: { $0.name == name }) else {
            let known = parts.settings.frequencyCaps.map(\.name).joined(separator: ", ")
            throw ServiceError(
                .invalidField,
                "frequencyCap: the setting frequency-caps has \(known.isEmpty ? "none" : "no such cap, but \(known)")")
        }
        guard parts.hub.decidesForDevices else {
            throw ServiceError(.conflict, "frequencyCap: the hub elsewhere cannot hold back what single users get")
        }
        return request.transactional == true ? nil : cap
    }

    /// What the request is in other languages, checked as the request is.
    private func translations(
        of request: SendRequest, kind: ContentKind, audience: TagExpression, for principal: Principal
    ) async throws -> [TranslationDraft] {
        var drafts: [TranslationDraft] = []
        for (place, translation) in (request.translations ?? []).enumerated() {
            // A repeat that comes after its expiry gets here without the other checks.
            let key = try request.key(of: translation, "translations[\(place)]")
            let translated = request.translated(by: translation)
            let draft = try await ServiceError.inside("translations[\(place)]") {
                let (content, thumb, own) = try await ownContents(of: translated, for: principal)
                guard own == kind else {
                    throw ServiceError(
                        .unsupportedContent, "its content is of kind \(own.rawValue), the request's of \(kind.rawValue)")
                }
                let push = pushTemplate(of: translated, kind: kind, audience: audience)
                try push.checkSize()
                return TranslationDraft(
                    key: key, texts: translated.texts, contentID: content?.id, thumbID: thumb?.id, push: push)
            }
            drafts.append(draft)
        }
        return drafts
    }

    private func ownContents(
        of request: SendRequest, for principal: Principal
    ) async throws -> (content: ContentRecord?, thumb: ContentRecord?, kind: ContentKind) {
        let content = try await ownContent(request.contentID, "contentId", of: principal)
        let thumb = try await ownContent(request.thumbID, "thumbId", of: principal)
        let kind = try Self.kind(of: request, content: content)
        try Self.checkThumb(thumb, of: kind)
        guard thumb == nil || kind != .text else { throw ServiceError(.invalidField, "thumbId: kind text has no content") }
        return (content, thumb, kind)
    }

    /// The small variant of what is sealed is its envelope.
    private static func checkThumb(_ thumb: ContentRecord?, of kind: ContentKind) throws {
        guard let thumb else { return }
        let found = MediaFormat(rawValue: thumb.mediaType)?.kind
        guard found == (kind == .sealed ? .sealed : .image) else {
            throw ServiceError(
                .unsupportedContent, kind == .sealed ? "thumbId: it must be sealed too" : "thumbId: a thumb is a picture")
        }
    }

    func checkedKey(
        _ key: String?, form: String, request: SendRequest, content: ContentRecord?, thumb: ContentRecord?
    ) throws -> IdempotencyKey? {
        guard let key else { return nil }
        guard RequestDigest.isKey(key) else {
            throw ServiceError(.invalidHeader, "Idempotency-Key: it has 1 to 128 visible ASCII characters")
        }
        return IdempotencyKey(
            key: key, digest: try RequestDigest.digest(form: form, request: request, content: content, thumb: thumb))
    }

    /// Stores the contents that the server writes itself, which are links and coupons, and returns the request that names them beside
    /// those. Contents of the app become contents of the sender. Done only when everything else is right.
    func withWrittenContent(_ request: SendRequest, for principal: Principal) async throws -> SendRequest {
        var request = request
        for id in Set(request.contents.map(\.id)) {
            guard let record = try await parts.store.content(id, at: parts.clock.now), record.owner == .app else { continue }
            let bytes = StoredBytes(digest: record.digest, byteCount: record.byteCount)
            let own = try await stage(bytes, mediaType: record.mediaType, fileName: record.fileName, for: principal)
            request.replaceContent(id, with: own.id)
        }
        if let written = try await writtenContent(request.link, request.coupon, for: principal) { request.contentID = written.id }
        for place in (request.translations ?? []).indices {
            guard let translation = request.translations?[place],
                let written = try await writtenContent(translation.link, translation.coupon, for: principal)
            else { continue }
            request.translations?[place].contentID = written.id
        }
        return request
    }

    private func writtenContent(
        _ link: String?, _ coupon: Coupon?, for principal: Principal
    ) async throws -> ContentRecord? {
        let written: (bytes: [UInt8], mediaType: String)
        if let link {
            written = (Array("\(link)\r\n".utf8), "text/uri-list")
        } else if let coupon {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            written = (Array(try encoder.encode(coupon)), "application/json")
        } else {
            return nil
        }
        let stored = try await store(written.bytes)
        return try await stage(stored, mediaType: written.mediaType, fileName: nil, for: principal)
    }

    private func ownContent(_ id: String?, _ field: String, of principal: Principal) async throws -> ContentRecord? {
        guard let id else { return nil }
        guard let record = try await parts.store.content(id, at: parts.clock.now),
            record.owner == principal.userID || record.owner == .app
        else { throw ServiceError(.notFound, "\(field): there is no such content of yours") }
        return record
    }

    private static func kind(of request: SendRequest, content: ContentRecord?) throws -> ContentKind {
        if request.link != nil { return .link }
        if request.coupon != nil { return .coupon }
        guard let content else { return .text }
        guard let own = MediaFormat(rawValue: content.mediaType)?.kind else {
            throw ServiceError(.unsupportedContent, "contentId: this content belongs to another send")
        }
        guard let kind = request.kind else {
            guard own != .sealed else { throw ServiceError(.invalidField, "kind: it must be sealed for this content") }
            return own
        }
        guard kind == own || kind == .file && own != .sealed else {
            throw ServiceError(
                .unsupportedContent, "kind: the content is \(content.mediaType), which is not of kind \(kind.rawValue)")
        }
        return kind
    }

    private func pushTemplate(of request: SendRequest, kind: ContentKind, audience: TagExpression) -> PushTemplate {
        let style = request.style ?? .alert
        let isOpen = request.preview == .open
        let texts =
            isOpen
            ? NotificationTexts(title: request.title, subtitle: request.subtitle, message: request.message)
            : NotificationTexts(message: parts.settings.neutralText)
        let visible = PushTemplate.Visible(
            texts: texts, sound: request.sound ?? "default", badge: request.badge, thread: request.thread)
        return PushTemplate(
            form: style == .silent ? .silent : .alert(visible, wakes: style == .both), kind: kind,
            openMessage: isOpen ? request.message : nil, subject: audience.onlyUser, collapseID: request.collapseID,
            expiresAt: request.expiresAt)
    }
}

extension RichNotificationDraft {
    /// Takes the contents that a request names with which the server has written its links and coupons.
    mutating func takeContents(of request: SendRequest) {
        (contentID, thumbID) = (request.contentID, request.thumbID)
        for (place, translation) in (request.translations ?? []).enumerated() {
            let translated = request.translated(by: translation)
            (translations[place].contentID, translations[place].thumbID) = (translated.contentID, translated.thumbID)
        }
    }
}

extension SendRequest {
    /// For whom the translation is. Throws `invalid-field`.
    func key(of translation: SendTranslation, _ field: String) throws -> TranslationKey {
        let place = translation.group.map { name in split?.groups.firstIndex { $0.name == name } }
        if let place, place == nil { throw SendRequestCheck.wrong("\(field).group", "the name of a group of split") }
        let group = place.flatMap(\.self).map { $0 + 1 }
        if group != nil, translation.language == nil { return TranslationKey(nil, group: group) }
        guard let language = translation.language.flatMap(LanguageTag.init) else {
            throw SendRequestCheck.wrong("\(field).language", SendRequestCheck.languageRule)
        }
        return TranslationKey(language, group: group)
    }

    /// What receivers in one language or group get.
    func translated(by translation: SendTranslation) -> SendRequest {
        var request = self
        request.translations = nil
        request.split = nil
        request.title = translation.title ?? title
        request.subtitle = translation.subtitle ?? subtitle
        request.message = translation.message ?? message
        request.altText = translation.altText ?? altText
        request.thumbID = translation.thumbID ?? (translation.hasOwnContent ? nil : thumbID)
        guard translation.hasOwnContent else { return request }
        (request.contentID, request.link, request.coupon) = (translation.contentID, translation.link, translation.coupon)
        return request
    }

    /// The request as its sender wrote it: a content that the server wrote is not named.
    var withoutWrittenContent: SendRequest {
        var request = self
        if link != nil || coupon != nil { request.contentID = nil }
        for place in (translations ?? []).indices
        where request.translations?[place].link != nil || request.translations?[place].coupon != nil {
            request.translations?[place].contentID = nil
        }
        return request
    }

    /// The contents that it names, each with the name of its field.
    public var contents: [(id: String, field: String)] {
        var all = [(contentID, "contentId"), (thumbID, "thumbId")]
        for (place, translation) in (translations ?? []).enumerated() {
            all.append((translation.contentID, "translations[\(place)]: contentId"))
            all.append((translation.thumbID, "translations[\(place)]: thumbId"))
        }
        return all.compactMap { id, field in id.map { ($0, field) } }
    }

    fileprivate var texts: NotificationTexts {
        NotificationTexts(title: title, subtitle: subtitle, message: message, altText: altText)
    }
}

extension SendTranslation {
    fileprivate var hasOwnContent: Bool { contentID != nil || link != nil || coupon != nil }
}

extension ServiceError {
    /// Does work on one part of a request; the detail of its error names the part.
    static func inside<Result>(_ field: String, _ work: () throws -> Result) throws -> Result {
        do { return try work() } catch let error as ServiceError { throw error.inside(field) }
    }

    /// The same for work that waits.
    static func inside<Result: Sendable>(_ field: String, _ work: () async throws -> Result) async throws -> Result {
        do { return try await work() } catch let error as ServiceError { throw error.inside(field) }
    }

    private func inside(_ field: String) -> ServiceError {
        ServiceError(code, detail.map { "\(field): \($0)" }, retryAfter: retryAfter)
    }
}

/// The digest that distinguishes a retried request from another request under the same idempotency key.
private enum RequestDigest {
    private struct Meaning: Encodable {
        var form: String
        var request: SendRequest
        var content: [String?]
        var thumb: [String?]
    }

    /// Contents count by their bytes and not by their ids: a retry that carries the content in the same request stores it
    /// again, under a new id.
    static func digest(form: String, request: SendRequest, content: ContentRecord?, thumb: ContentRecord?) throws -> [UInt8] {
        var request = request
        request.contentID = nil
        request.thumbID = nil
        let meaning = Meaning(
            form: form, request: request, content: [content?.digest.text, content?.mediaType, content?.fileName],
            thumb: [thumb?.digest.text, thumb?.mediaType])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(SHA256.hash(data: try encoder.encode(meaning)))
    }

    /// Whether a key has 1 to 128 visible ASCII characters.
    static func isKey(_ key: String) -> Bool {
        (1...128).contains(key.utf8.count) && key.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
