import Hummingbird
import RichPushModel

/// Which contents are in memory, and which should be. A value without I/O.
///
/// A content is kept from the second time on that it is asked for within `lifetime`: what one phone fetches once is not worth its
/// memory. It goes with the first question, for whatever content, that comes `lifetime` or more after it was read from the store, so that
/// what was erased does not stay; where there is no room the one goes that nobody asked for the longest.
struct HotContentLedger: Sendable {
    /// What to do for one who asks.
    enum Answer: Equatable {
        case serve(ByteBuffer)
        /// Read it from the store as it is sent.
        case stream
        /// Read it from the store whole, then say `loaded` or `failed`.
        case load
        /// Wait for the one who loads.
        case join
    }

    private struct Entry {
        var bytes: ByteBuffer
        var loadedAt: Duration
        var askedAt: Duration
    }

    /// The largest content that is kept, in bytes.
    static let largest: Int64 = 128 * 1024
    /// The most bytes of all together.
    static let capacity = 16 * 1024 * 1024
    /// How long one is kept.
    static let lifetime: Duration = .seconds(60)
    /// How many are remembered that were asked for once.
    static let memory = 1_024

    private var entries: [String: Entry] = [:]
    private var askedOnce: [String: Duration] = [:]
    private var loading: Set<String> = []
    /// When old ones were looked for.
    private var lookedAt: Duration = .zero
    /// How many bytes are kept.
    private(set) var size = 0

    mutating func ask(for digest: String, size: Int64, at uptime: Duration) -> Answer {
        forgetOld(at: uptime)
        guard size <= Self.largest, size > 0 else { return .stream }
        if let entry = entries[digest], uptime - entry.loadedAt < Self.lifetime {
            entries[digest]?.askedAt = uptime
            return .serve(entry.bytes)
        }
        if loading.contains(digest) { return .join }
        guard entries[digest] != nil || isAskedAgain(digest, at: uptime) else { return .stream }
        forget(digest)
        loading.insert(digest)
        return .load
    }

    /// Whether somebody reads it from the store.
    func isLoading(_ digest: String) -> Bool { loading.contains(digest) }

    /// What is kept of a content, which counts as no question.
    func bytes(of digest: String) -> ByteBuffer? { entries[digest]?.bytes }

    /// The bytes that one who was told to load has read.
    mutating func loaded(_ bytes: ByteBuffer, of digest: String, at uptime: Duration) {
        loading.remove(digest)
        askedOnce[digest] = nil
        forget(digest)
        makeRoom(for: bytes.readableBytes)
        entries[digest] = Entry(bytes: bytes, loadedAt: uptime, askedAt: uptime)
        size += bytes.readableBytes
    }

    /// One who was told to load could not.
    mutating func failed(_ digest: String) { loading.remove(digest) }

    private mutating func isAskedAgain(_ digest: String, at uptime: Duration) -> Bool {
        if let last = askedOnce[digest], uptime - last < Self.lifetime { return true }
        if askedOnce.count >= Self.memory { askedOnce = askedOnce.filter { uptime - $0.value < Self.lifetime } }
        if askedOnce.count >= Self.memory { askedOnce.removeAll(keepingCapacity: true) }
        askedOnce[digest] = uptime
        return false
    }

    /// At most once a second: there may be thousands.
    private mutating func forgetOld(at uptime: Duration) {
        guard uptime - lookedAt >= .seconds(1) else { return }
        lookedAt = uptime
        for (digest, entry) in entries where uptime - entry.loadedAt >= Self.lifetime {
            forget(digest)
            // Who was asked for is asked for again, and then read once for all.
            if uptime - entry.askedAt < Self.lifetime { askedOnce[digest] = entry.askedAt }
        }
    }

    private mutating func makeRoom(for count: Int) {
        while size + count > Self.capacity, let oldest = entries.min(by: { $0.value.askedAt < $1.value.askedAt }) {
            forget(oldest.key)
        }
    }

    private mutating func forget(_ digest: String) {
        guard let entry = entries.removeValue(forKey: digest) else { return }
        size -= entry.bytes.readableBytes
    }
}
