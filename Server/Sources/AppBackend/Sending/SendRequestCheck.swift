import PushHub
import RichPushModel
import ServiceErrors

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
    }

    /// A sealed request that repeats its text in clear is a mistake that cannot be undone later, so it is refused.
    private func checkSealed() throws {
        guard request.message.isEmpty, request.title == nil, request.subtitle == nil, request.altText == nil,
            request.link == nil, request.coupon == nil
        else {
            throw ServiceError(
                .invalidField, "message: it must be empty for kind sealed, and title, subtitle, altText, link and coupon absent")
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

    private static func wrong(_ field: String, _ rule: String) -> ServiceError {
        ServiceError(.invalidField, "\(field): it must be \(rule)")
    }
}
