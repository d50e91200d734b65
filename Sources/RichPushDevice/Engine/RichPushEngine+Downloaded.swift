import RichPushModel

extension RichPushEngine {
    /// Which of the entries of an inbox can be opened without a network; for a list, at once and not one by one.
    public func downloaded(among entries: [InboxEntry]) -> Set<RichID> {
        guard let session = activeSession else { return [] }
        return Set(
            entries.filter { entry in
                guard entry.kind != .sealed else { return false }
                guard let content = entry.content else { return true }
                return device.cache.contains(ContentKey(entry.id, sha256: content.sha256, of: session.id))
            }.map(\.id))
    }

    /// What is on the device of a notification, for a list with thumbnails: the small variant, which the service extension
    /// fetches, else the content itself. Asks no server and reports nothing: looking at a list is not opening.
    public func downloadedContent(of id: RichID) -> CachedContent? {
        guard let session = activeSession, let entry = try? records.entry(id, of: session.id), entry.kind != .sealed else {
            return nil
        }
        for descriptor in [entry.thumb, entry.content] {
            guard let descriptor else { continue }
            if let content = fetcher.cached(descriptor, of: id, in: session) { return content }
        }
        return nil
    }
}
