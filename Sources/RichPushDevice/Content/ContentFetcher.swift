import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Fetches the details and the content of a notification; only checked content enters the cache.
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

    /// Downloads the stored bytes as they are.
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

    // MARK: Sealed notifications: what the server stores is opened here and nowhere else, and passes the same checks as anything else

    /// The notification with what is inside; for one that is not sealed, itself. Throws `notSealedForThisDevice`, `sealBroken`.
    func opened(
        _ entry: InboxEntry, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> InboxEntry {
        guard entry.kind == .sealed else { return entry }
        let known = try storing { () throws(StorageError) in try records.text(entry.id, of: session.id) }
        if let known { return entry.opened(known) }
        let seal = try await seal(of: entry, in: session, as: authorization, within: deadline)
        try storing { () throws(StorageError) in try records.keep(seal.text, of: entry.id, of: session.id) }
        return entry.opened(seal.text)
    }

    /// Downloads sealed content, opens it, and takes the result into the cache.
    func downloadSealed(
        _ descriptor: ContentDescriptor, of entry: InboxEntry, in session: Session, as authorization: Authorization,
        maximumBytes: Int64, within deadline: Deadline
    ) async throws(RichPushError) -> CachedContent {
        try ContentCheck.admit(descriptor, maximumBytes: maximumBytes)
        let seal = try await seal(of: entry, in: session, as: authorization, within: deadline)
        if descriptor == seal.text.thumb { return try adopt(descriptor, of: entry.id, in: session, by: seal.writeThumb) }
        // The size declared inside the seal allowed this download: a sender must not declare little there and store much.
        guard descriptor == seal.text.content, let sealed = entry.content, sealed.byteCount == seal.storedByteCount else {
            throw .sealBroken
        }
        let file = try newFile(in: session)
        defer { try? FileAccess.remove(file) }
        try await client.download(
            .get(APIRoute.notification(entry.id)), to: file, maximumBytes: sealed.byteCount, as: authorization, within: deadline)
        return try adopt(file, as: descriptor, of: entry, seal, in: session)
    }

    /// Opens a content that the system downloaded. The envelope must be here already.
    func adoptDownloaded(_ file: URL, of entry: InboxEntry, in session: Session) throws(RichPushError) -> CachedContent {
        guard let envelope = entry.thumb ?? entry.content, let cached = cached(envelope, of: entry.id, in: session) else {
            throw .notFound
        }
        let seal = try open(cached.file, of: entry.id, in: session)
        guard let descriptor = seal.text.content else { throw .notFound }
        return try adopt(file, as: descriptor, of: entry, seal, in: session)
    }

    /// Throws `sealBroken` when, by its size, the stored content cannot be what the sender sealed. The envelope must be here; a
    /// notification that is not sealed passes.
    func requireSealedSize(of id: RichID, in session: Session) throws(RichPushError) {
        let stored = try storing { () throws(StorageError) in try records.stored(id, of: session.id) }
        guard let stored, stored.kind == .sealed, let sealed = stored.content, let envelope = stored.thumb else { return }
        guard let cached = cached(envelope, of: id, in: session) else { throw .notFound }
        let seal = try open(cached.file, of: id, in: session)
        guard sealed.byteCount == seal.storedByteCount else { throw .sealBroken }
    }

    private func adopt(
        _ file: URL, as descriptor: ContentDescriptor, of entry: InboxEntry, _ seal: OpenedSeal, in session: Session
    ) throws(RichPushError) -> CachedContent {
        guard let sealed = entry.content else { throw .notFound }
        try ContentCheck.verify(file, against: sealed)
        return try adopt(descriptor, of: entry.id, in: session) { target throws(SealingError) in
            try seal.writeContent(from: file, to: target)
        }
    }

    /// Checks what `write` opened against the sender's declaration inside the seal, as for anything from the network.
    private func adopt(
        _ descriptor: ContentDescriptor, of id: RichID, in session: Session, by write: (URL) throws(SealingError) -> Void
    ) throws(RichPushError) -> CachedContent {
        let target = try newFile(in: session)
        defer { try? FileAccess.remove(target) }
        do throws(SealingError) { try write(target) } catch { throw Self.error(error) }
        try ContentCheck.verify(target, against: descriptor)
        let key = ContentKey(id, sha256: descriptor.sha256, of: session.id)
        let content = try storing { () throws(StorageError) in
            try cache.adopt(target, as: key, descriptor: descriptor, now: clock.now)
        }
        log.record(DeviceEvent(.fetched, id, ["bytes": "\(content.byteCount)", "variant": "sealed"]))
        return content
    }

    /// The envelope, from the cache or the server, opened. The envelope is the small variant of a sealed notification; if the
    /// notification has only text, it is the content too.
    private func seal(
        of entry: InboxEntry, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> OpenedSeal {
        guard let envelope = entry.thumb ?? entry.content, envelope.mediaType == MediaFormat.sealed.rawValue else {
            throw .badAnswer
        }
        let variant: Variant = entry.thumb == nil ? .original : .thumb
        let file =
            if let cached = cached(envelope, of: entry.id, in: session) { cached.file } else {
                try await downloadStored(
                    envelope, of: entry.id, variant: variant, in: session, as: authorization, maximumBytes: SealedEnvelope.limit,
                    within: deadline
                ).file
            }
        return try open(file, of: entry.id, in: session)
    }

    private func open(_ file: URL, of id: RichID, in session: Session) throws(RichPushError) -> OpenedSeal {
        let text = try storing { () throws(StorageError) in try secrets.secret(.sealingKey) }
        guard let text else { throw .notSealedForThisDevice }
        do throws(SealingError) {
            return try SealedEnvelope(file).open(
                for: id, installation: session.installation, with: SealingPrivateKey(secretText: text))
        } catch {
            throw Self.error(error)
        }
    }

    private func newFile(in session: Session) throws(RichPushError) -> URL {
        try storing { () throws(StorageError) in try cache.newDownload(for: session.id, now: clock.now) }
    }

    private static func error(_ error: SealingError) -> RichPushError {
        switch error {
        case .notForThisKey, .badKey: .notSealedForThisDevice
        case .badRecipients, .badSize, .broken: .sealBroken
        case .file: .storage(.failed)
        }
    }
}

/// Whether downloaded bytes are what the server described and of a type that may be shown.
enum ContentCheck {
    /// Refuses before the download what would be refused after it.
    static func admit(_ descriptor: ContentDescriptor, maximumBytes: Int64) throws(RichPushError) {
        guard MediaFormat(declared: descriptor.mediaType) != nil else { throw .badMediaType }
        guard descriptor.byteCount >= 0, descriptor.byteCount <= maximumBytes else { throw .tooLarge }
    }

    /// Size and SHA-256 first, then the type by its first bytes.
    static func verify(_ file: URL, against descriptor: ContentDescriptor) throws(RichPushError) {
        guard let inspection = FileInspection(of: file) else { throw .storage(.failed) }
        guard inspection.byteCount == descriptor.byteCount, inspection.sha256 == descriptor.sha256.lowercased() else {
            throw .contentMismatch
        }
        guard let format = MediaFormat(declared: descriptor.mediaType), format.matches(head: inspection.head) else {
            throw .badMediaType
        }
    }
}

/// Which links a content may offer: https; while the app is tried out against a backend on this machine also http to this machine.
/// Anything else could be a way into another app, or to a service that listens on the device.
enum LinkRule {
    /// The first link of a `text/uri-list`, if it leads to one of the configuration's hosts; without them to any.
    static func link(inList text: String, by configuration: RichPushConfiguration) -> URL? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        guard let line = lines.first(where: { !$0.isEmpty && !$0.hasPrefix("#") }), line.utf8.count <= 2_000 else { return nil }
        guard let url = URL(string: line), let origin = Origin(url), origin.isAcceptable, url.user == nil else { return nil }
        // A configuration has http for this machine only.
        guard origin.scheme == "https" || Origin(configuration.backend)?.scheme == "http" else { return nil }
        guard let hosts = configuration.linkHosts else { return url }
        guard let host = url.host?.lowercased() else { return nil }
        return hosts.contains { $0.lowercased() == host } ? url : nil
    }
}
