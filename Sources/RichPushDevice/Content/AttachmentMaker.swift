import RichPushModel

/// Makes what the system may move away and show with a notification.
struct AttachmentMaker: Sendable {
    let cache: any ContentCache
    let clock: any ServiceClock

    /// A copy of the content, or `nil` when the system takes no such type or size (Reference/IOSClient.md#6).
    func attachment(for content: CachedContent, altText: String?, in session: Session) -> NoticeAttachment? {
        guard Self.isShowable(mediaType: content.mediaType, byteCount: content.byteCount),
            let copy = try? cache.copyForSystem(content, of: session.id, now: clock.now)
        else { return nil }
        return NoticeAttachment(file: copy, mediaType: content.mediaType, altText: altText)
    }

    /// Whether the system would show it.
    static func isShowable(mediaType: String, byteCount: Int64) -> Bool {
        guard let limit = MediaFormat(declared: mediaType)?.attachmentLimit else { return false }
        return byteCount <= limit
    }
}
