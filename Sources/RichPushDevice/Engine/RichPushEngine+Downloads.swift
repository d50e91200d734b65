import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// For a large content that the system downloads while the app does not run.
extension RichPushEngine {
    private struct Ticket: Decodable {
        var path: String
    }

    /// A link to the content that needs no header, good for some minutes: the system follows redirects of such a download
    /// itself, and shall carry no credential along.
    ///
    /// Throws `tooLarge` and `badMediaType` for what would not be taken in afterwards, and `notFound` when there is no content.
    public func downloadLink(for id: RichID) async throws(RichPushError) -> URL {
        guard let session = activeSession else { throw self.session == nil ? .notSignedIn : .credentialRejected }
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        guard let descriptor = try await details(of: id, in: session, within: deadline).content else { throw .notFound }
        try ContentCheck.admit(descriptor, maximumBytes: configuration.limits.maximumContentBytes)
        try fetcher.requireSealedSize(of: id, in: session)
        let ticket = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
            try await self.client.value(
                Ticket.self, of: BackendCall(method: "POST", path: APIRoute.ticket(id)), as: authorization, within: deadline)
        }
        var base = configuration.backend.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        guard ticket.path.hasPrefix("/"), let link = URL(string: base + ticket.path) else { throw .badAnswer }
        return link
    }

    /// Where a file that the system has downloaded waits to be looked at: among what a sign-out removes. `nil` when nobody is
    /// signed in.
    public nonisolated func newDownloadFile() -> URL? {
        guard let session = (try? device.store.session()) ?? nil else { return nil }
        return try? device.cache.newDownload(for: session.id, now: device.clock.now)
    }

    /// Takes in what the system has downloaded, if it is what the server described. The file is gone afterwards in any case.
    public func takeDownload(_ file: URL, of id: RichID) throws(RichPushError) {
        defer { try? FileAccess.remove(file) }
        guard let session = activeSession else { throw .notSignedIn }
        let entry = try storing { () throws(StorageError) in try records.entry(id, of: session.id) }
        guard let descriptor = entry?.content else { throw .notFound }
        try ContentCheck.admit(descriptor, maximumBytes: configuration.limits.maximumContentBytes)
        let content = try adopt(file, descriptor, of: id, in: session)
        device.log.record(DeviceEvent(.fetched, id, ["bytes": "\(content.byteCount)", "variant": "background"]))
        note(.fetched, of: id, in: session)
        startFlush()
    }

    private func adopt(
        _ file: URL, _ descriptor: ContentDescriptor, of id: RichID, in session: Session
    ) throws(RichPushError) -> CachedContent {
        let stored = try storing { () throws(StorageError) in try records.stored(id, of: session.id) }
        if let stored, stored.kind == .sealed { return try fetcher.adoptDownloaded(file, of: stored, in: session) }
        try ContentCheck.verify(file, against: descriptor)
        let key = ContentKey(id, sha256: descriptor.sha256, of: session.id)
        let now = device.clock.now
        return try storing { () throws(StorageError) in
            try device.cache.adopt(file, as: key, descriptor: descriptor, now: now)
        }
    }
}
