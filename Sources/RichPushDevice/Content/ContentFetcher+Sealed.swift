import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sealed notifications: what the server stores is opened here and nowhere else, and passes the same checks as anything else.
extension ContentFetcher {
    /// The notification with what is inside; for one that is not sealed, itself. Throws `notSealedForThisDevice`, `sealBroken`.
    func opened(
        _ entry: InboxEntry, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> InboxEntry {
        guard entry.kind == .sealed else { return entry }
        let known = try storing { () throws(StorageError) in try records.words(entry.id, of: session.id) }
        if let known { return entry.opened(known) }
        let seal = try await seal(of: entry, in: session, as: authorization, within: deadline)
        try storing { () throws(StorageError) in try records.keep(seal.words, of: entry.id, of: session.id) }
        return entry.opened(seal.words)
    }

    /// Fetches what was sealed, opens it, and takes into the cache what came out.
    func downloadSealed(
        _ descriptor: ContentDescriptor, of entry: InboxEntry, in session: Session, as authorization: Authorization,
        maximumBytes: Int64, within deadline: Deadline
    ) async throws(RichPushError) -> CachedContent {
        try ContentCheck.admit(descriptor, maximumBytes: maximumBytes)
        let seal = try await seal(of: entry, in: session, as: authorization, within: deadline)
        if descriptor == seal.words.thumb { return try adopt(descriptor, of: entry.id, in: session, by: seal.writeThumb) }
        // What is inside decided that it is fetched: whoever may seal for this device must not pass for little with much outside.
        guard descriptor == seal.words.content, let sealed = entry.content, sealed.byteCount == seal.storedByteCount else {
            throw .sealBroken
        }
        let file = try newFile(in: session)
        defer { try? FileAccess.remove(file) }
        try await client.download(
            .get(APIRoute.notification(entry.id)), to: file, maximumBytes: sealed.byteCount, as: authorization, within: deadline)
        return try adopt(file, as: descriptor, of: entry, seal, in: session)
    }

    /// Opens a content that was downloaded by others. The envelope must be here already.
    func adoptDownloaded(_ file: URL, of entry: InboxEntry, in session: Session) throws(RichPushError) -> CachedContent {
        guard let envelope = entry.thumb ?? entry.content, let cached = cached(envelope, of: entry.id, in: session) else {
            throw .notFound
        }
        let seal = try open(cached.file, of: entry.id, in: session)
        guard let descriptor = seal.words.content else { throw .notFound }
        return try adopt(file, as: descriptor, of: entry, seal, in: session)
    }

    /// Throws `sealBroken` when what the server stores cannot be what the sender sealed, by its size. The envelope must be here;
    /// of what is not sealed nothing is asked.
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

    /// What `write` opened is held against what the sender declared, inside the seal, as anything from the network is.
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

    /// The envelope, from the cache or the server, opened. A sealed notification's small variant is its envelope; one that is
    /// words alone has it as its content too.
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
