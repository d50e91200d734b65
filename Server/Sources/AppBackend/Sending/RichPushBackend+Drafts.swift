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
        let content = try await ownContent(request.contentID, "contentId", of: principal)
        let thumb = try await ownContent(request.thumbID, "thumbId", of: principal)
        let kind = try Self.kind(of: request, content: content)
        try Self.checkThumb(thumb, of: kind)
        guard thumb == nil || kind != .text else { throw ServiceError(.invalidField, "thumbId: kind text has no content") }
        let push = pushTemplate(of: request, kind: kind, audience: audience)
        try push.checkSize()
        let key = try checkedKey(idempotencyKey, form: "send", request: request, content: content, thumb: thumb)
        return RichNotificationDraft(
            sender: principal.userID, senderName: principal.name, kind: kind, style: request.style ?? .alert,
            words: NotificationWords(
                title: request.title, subtitle: request.subtitle,
                message: kind == .sealed ? parts.settings.neutralText : request.message, altText: request.altText),
            contentID: content?.id, thumbID: thumb?.id, audience: audience, expiresAt: request.expiresAt,
            pushesPerSecond: request.pushesPerSecond, push: push,
            nonce: Hexadecimal.random(byteCount: 16), idempotencyKey: key, number: request.id)
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

    /// Stores the content that the server writes itself: a link or a coupon. Done only when everything else is right.
    func withWrittenContent(
        _ draft: RichNotificationDraft, _ request: SendRequest, for principal: Principal
    ) async throws -> RichNotificationDraft {
        let written: (bytes: [UInt8], mediaType: String)
        if let link = request.link {
            written = (Array("\(link)\r\n".utf8), "text/uri-list")
        } else if let coupon = request.coupon {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            written = (Array(try encoder.encode(coupon)), "application/json")
        } else {
            return draft
        }
        let stored = try await store(written.bytes)
        var draft = draft
        draft.contentID = try await stage(stored, mediaType: written.mediaType, fileName: nil, for: principal).id
        return draft
    }

    private func ownContent(_ id: String?, _ field: String, of principal: Principal) async throws -> ContentRecord? {
        guard let id else { return nil }
        guard let record = try await parts.stores.contents.content(id, at: parts.clock.now), record.owner == principal.userID
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

    private func pushTemplate(
        of request: SendRequest, kind: ContentKind, audience: TagExpression
    ) -> PushTemplate {
        let style = request.style ?? .alert
        let isOpen = request.preview == .open
        let words =
            isOpen
            ? NotificationWords(title: request.title, subtitle: request.subtitle, message: request.message)
            : NotificationWords(message: parts.settings.neutralText)
        let visible = PushTemplate.Visible(
            words: words, sound: request.sound ?? "default", badge: request.badge, thread: request.thread)
        return PushTemplate(
            form: style == .silent ? .silent : .alert(visible, wakes: style == .both), kind: kind,
            openMessage: isOpen ? request.message : nil, subject: audience.onlyUser, collapseID: request.collapseID,
            expiresAt: request.expiresAt)
    }
}
