import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// Stores content for a later send of the same user, who has 24 hours to use it. Never holds more than a few chunks.
    ///
    /// The media type is read from the bytes and must be on the allow-list and agree with `declaredType`, unless that is absent
    /// or `application/octet-stream`. Throws `unsupported-content`, `content-too-large`, `quota-exceeded`, `forbidden`; an
    /// error of `chunks` is passed on and leaves nothing behind.
    public func storeContent<Chunks: AsyncSequence>(
        declaredType: String?, fileName: String?, chunks: Chunks, for principal: Principal
    ) async throws -> ContentAnswer where Chunks.Element == [UInt8] {
        throw ServiceError(.notReady)
    }

    /// The content of a notification that the caller may read. Everything else is `not-found`.
    public func openContent(
        of id: RichID, variant: ContentVariant, for principal: Principal
    ) async throws -> OpenedContent {
        throw ServiceError(.notReady)
    }

    /// A ticket for this content and this user, valid for five minutes.
    public func issueTicket(
        for id: RichID, variant: ContentVariant, for principal: Principal
    ) async throws -> IssuedTicket {
        throw ServiceError(.notReady)
    }

    /// The content that a ticket opens. The user's access is checked again. Throws `not-found` for a ticket that is malformed,
    /// forged, expired, or of another notification or variant.
    public func redeem(ticket: String, for id: RichID, variant: ContentVariant) async throws -> OpenedContent {
        throw ServiceError(.notReady)
    }
}
