import RichPushModel

extension RichPushEngine {
    /// A content from the cache or the server. Several that want the same share one download, each until its own deadline; who
    /// shared one that ran out of time earlier starts anew.
    func fetch(
        _ descriptor: ContentDescriptor, of id: RichID, variant: ContentFetcher.Variant, in session: Session,
        within deadline: Deadline
    ) async -> Result<CachedContent, RichPushError> {
        let key = ContentKey(id, sha256: descriptor.sha256, of: session.id)
        while true {
            if let cached = fetcher.cached(descriptor, of: id, in: session) { return .success(cached) }
            let shared = fetches[key]
            let task = shared ?? startFetch(key, descriptor, variant, in: session, within: deadline)
            let result = await deadline.run { await task.value } ?? .failure(.timedOut)
            guard shared != nil, result == .failure(.timedOut), deadline.remaining > .zero, isCurrent(session),
                !Task.isCancelled
            else { return result }
        }
    }

    private func startFetch(
        _ key: ContentKey, _ descriptor: ContentDescriptor, _ variant: ContentFetcher.Variant, in session: Session,
        within deadline: Deadline
    ) -> Task<Result<CachedContent, RichPushError>, Never> {
        let task = Task {
            let result = await download(descriptor, of: key.richID, variant: variant, in: session, within: deadline)
            if !Task.isCancelled { fetches[key] = nil }
            return result
        }
        fetches[key] = task
        return task
    }

    private func download(
        _ descriptor: ContentDescriptor, of id: RichID, variant: ContentFetcher.Variant, in session: Session,
        within deadline: Deadline
    ) async -> Result<CachedContent, RichPushError> {
        do throws(RichPushError) {
            let content = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
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
