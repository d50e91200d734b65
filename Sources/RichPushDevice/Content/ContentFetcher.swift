import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Fetches what a notification stands for and lets nothing into the cache that was not checked.
struct ContentFetcher: Sendable {
    /// Which bytes of a notification.
    enum Variant: Sendable {
        case original, thumb

        var query: String? { self == .thumb ? "variant=thumb" : nil }
    }

    var client: BackendClient
    let records: NotificationRecords
    let cache: any ContentCache
    let secrets: any SecretStore
    let clock: any ServiceClock
    let log: any EventLog

    /// Asks the server what a notification is, remembers it, and opens it if it is sealed.
    func details(
        of id: RichID, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> InboxEntry {
        let entry = try await client.value(
            InboxEntry.self, of: .get(APIRoute.details(id)), as: authorization, within: deadline)
        guard entry.id == id else { throw .badAnswer }
        try storing { () throws(StorageError) in try records.keep(entry, of: session.id) }
        return try await opened(entry, in: session, as: authorization, within: deadline)
    }

    /// The content from the cache; `nil` when it is not there.
    func cached(_ descriptor: ContentDescriptor, of id: RichID, in session: Session) -> CachedContent? {
        try? cache.content(ContentKey(id, sha256: descriptor.sha256, of: session.id), now: clock.now)
    }

    /// Downloads to a file, opens it if it is sealed, checks size, hash and type, and only then takes it into the cache.
    func download(
        _ descriptor: ContentDescriptor, of id: RichID, variant: Variant, in session: Session, as authorization: Authorization,
        maximumBytes: Int64, within deadline: Deadline
    ) async throws(RichPushError) -> CachedContent {
        let stored = try storing { () throws(StorageError) in try records.stored(id, of: session.id) }
        if let stored, stored.kind == .sealed {
            return try await downloadSealed(
                descriptor, of: stored, in: session, as: authorization, maximumBytes: maximumBytes, within: deadline)
        }
        return try await downloadStored(
            descriptor, of: id, variant: variant, in: session, as: authorization, maximumBytes: maximumBytes, within: deadline)
    }

    /// Downloads what lies on the server, as it is.
    func downloadStored(
        _ descriptor: ContentDescriptor, of id: RichID, variant: Variant, in session: Session, as authorization: Authorization,
        maximumBytes: Int64, within deadline: Deadline
    ) async throws(RichPushError) -> CachedContent {
        try ContentCheck.admit(descriptor, maximumBytes: maximumBytes)
        let file = try storing { () throws(StorageError) in try cache.newDownload(for: session.id, now: clock.now) }
        defer { try? FileAccess.remove(file) }
        try await client.download(
            .get(APIRoute.notification(id), query: variant.query), to: file, maximumBytes: descriptor.byteCount,
            as: authorization, within: deadline)
        try ContentCheck.verify(file, against: descriptor)
        let key = ContentKey(id, sha256: descriptor.sha256, of: session.id)
        let content = try storing { () throws(StorageError) in
            try cache.adopt(file, as: key, descriptor: descriptor, now: clock.now)
        }
        let detail = ["bytes": "\(content.byteCount)", "mediaType": content.mediaType, "variant": "\(variant)"]
        log.record(DeviceEvent(.fetched, id, detail))
        return content
    }
}
