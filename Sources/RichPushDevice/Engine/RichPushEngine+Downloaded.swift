import RichPushModel

extension RichPushEngine {
    /// The content of a notification if it is on the device, for a list with thumbnails. Asks no server and reports nothing:
    /// looking at a list is not opening.
    public func downloadedContent(of id: RichID) -> CachedContent? {
        guard let session = activeSession, let entry = try? records.entry(id, of: session.id), let content = entry.content
        else { return nil }
        let key = ContentKey(id, sha256: content.sha256, of: session.id)
        return (try? device.cache.content(key, now: device.clock.now)) ?? nil
    }
}
