import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import WireText

extension RichPushBackend {
    /// Takes what a receiver answers to a notification, and sends it to whoever sent that one, as words. A repeat of the same
    /// reply is delivered once. It is the only thing that an installation credential can send, and only to that one user.
    ///
    /// Throws `not-found` for a notification that the caller may not read, and when its sender is gone; `invalid-field`.
    public func reply(_ reply: Reply, to id: RichID, for principal: Principal) async throws {
        let (notification, _) = try await readable(id, for: principal)
        guard (1...64).contains(reply.id.utf8.count), InstallationID(reply.id) != nil else {
            throw ServiceError(.invalidField, "id: it has 1 to 64 of A-Z a-z 0-9 _ -")
        }
        var request = SendRequest(message: reply.text)
        request.thread = "reply-\(id)"
        try SendRequestCheck(request: request, now: parts.clock.now).check()
        guard let sender = try await parts.stores.users.user(notification.sender) else { throw Self.unseen }
        let audience = TagExpression.tag(.user(sender.name))
        let neutral = NotificationWords(message: parts.settings.neutralText)
        let push = PushTemplate(
            form: .alert(.init(words: neutral, sound: "default", thread: request.thread), wakes: false), kind: .text,
            subject: sender.name)
        try push.checkSize()
        try countSend(of: principal)
        let draft = RichNotificationDraft(
            sender: principal.userID, senderName: principal.name, kind: .text, style: .alert,
            words: NotificationWords(title: principal.name.text, message: reply.text), audience: audience, push: push,
            nonce: Hexadecimal.random(byteCount: 16),
            idempotencyKey: try checkedKey("reply:\(reply.id)", form: "reply \(id)", request: request, content: nil, thumb: nil))
        _ = try await accept(draft, AudienceRule(principal: principal))
    }
}
