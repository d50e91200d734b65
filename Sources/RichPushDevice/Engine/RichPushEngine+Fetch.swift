import RichPushModel

extension RichPushEngine {
    /// A content from the cache or the server. Several that want the same share one download.
    func fetch(
        _ descriptor: ContentDescriptor, of id: RichID, variant: ContentFetcher.Variant, in session: Session,
        within deadline: Deadline
    ) async -> Result<CachedContent, RichPushError> {
        if let cached = fetcher.cached(descriptor, of: id, in: session) { return .success(cached) }
        let key = ContentKey(id, sha256: descriptor.sha256, of: session.id)
        if let running = fetches[key] { return await running.value }
        let task = Task { await download(descriptor, of: id, variant: variant, in: session, within: deadline) }
        fetches[key] = task
        let result = await task.value
        if isCurrent(session) { fetches[key] = nil }
        return result
    }

    private func download(
        _ descriptor: ContentDescriptor, of id: RichID, variant: ContentFetcher.Variant, in session: Session,
        within deadline: Deadline
    ) async -> Result<CachedContent, RichPushError> {
        do throws(RichPushError) {
            let content = try await authorized(in: session) { authorization throws(RichPushError) in
                try await self.fetcher.download(
                    descriptor, of: id, variant: variant, in: session, as: authorization,
                    maximumBytes: self.configuration.limits.maximumContentBytes, within: deadline)
            }
            return .success(content)
        } catch {
            return .failure(error)
        }
    }
}
