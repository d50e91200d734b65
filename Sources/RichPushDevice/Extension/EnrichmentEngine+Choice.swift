import RichPushModel

extension EnrichmentEngine {
    /// What is fetched for a notification, and at what cost.
    struct Choice {
        var descriptor: ContentDescriptor
        var variant: ContentFetcher.Variant
        /// Over what it may be fetched: what is large can wait for a tap.
        var network = AllowedNetwork.any
        /// How long the notification waits for it; absent means as long as the system lets it.
        var patience: Duration?

        /// Whether a failure only means that this is no network for it.
        func isSpared(after error: RichPushError) -> Bool { network != .any && error == .offline }
    }

    /// The bytes worth fetching here: what the system will show, the small variant first; or what is tiny and will be opened.
    ///
    /// A notification is held meanwhile, so what is not small is fetched only where that is quick and nobody wants less, and a
    /// film without a small variant never (Reference/IOSClient.md#6).
    func choice(for entry: InboxEntry) async -> Choice? {
        let isShowable = { (content: ContentDescriptor) in
            AttachmentMaker.isShowable(mediaType: content.mediaType, byteCount: content.byteCount)
        }
        var found = entry.thumb.flatMap { isShowable($0) ? Choice(descriptor: $0, variant: .thumb) : nil }
        if found == nil, let content = entry.content, isShowable(content) || content.byteCount <= Self.tiny {
            found = Choice(descriptor: content, variant: .original)
        }
        guard var choice = found, choice.descriptor.byteCount > Self.tiny else { return found }
        guard MediaFormat(declared: choice.descriptor.mediaType)?.isFilm == false else { return nil }
        let limits = configuration.limits
        guard choice.descriptor.byteCount > limits.maximumSavingBytes else { return choice }
        guard await !device.power.isSavingPower() else { return nil }
        choice.network = choice.descriptor.byteCount > limits.maximumExpensiveBytes ? .inexpensive : .unconstrained
        choice.patience = limits.originalDeadline
        return choice
    }

    /// What costs nothing: a link, a coupon.
    private static var tiny: Int64 { 64 << 10 }

    /// The chosen bytes, from the cache or the server.
    func content(
        _ choice: Choice, of entry: InboxEntry, in session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> CachedContent {
        if let cached = fetcher.cached(choice.descriptor, of: entry.id, in: session) { return cached }
        var fetcher = fetcher
        fetcher.client.network = choice.network
        return try await fetcher.download(
            choice.descriptor, of: entry.id, variant: choice.variant, in: session, as: authorization,
            maximumBytes: configuration.limits.maximumContentBytes,
            within: choice.patience.map { deadline.capped(at: $0) } ?? deadline)
    }
}
