import Hummingbird
import RichPushModel
import Synchronization

/// The small contents that many phones fetch at the same time, as after a push: read from the store once and sent from memory.
///
/// The caller has made sure that the content may be read; bytes are found by their digest, so they are never out of date.
final class SmallContentCache: Sendable {
    private typealias Waiter = CheckedContinuation<ByteBuffer?, Never>

    private struct State {
        var ledger = SmallContentCachePolicy()
        var waiting: [String: [Waiter]] = [:]
    }

    private let clock: any ServiceClock
    private let state = Mutex(State())

    init(clock: any ServiceClock) { self.clock = clock }

    /// All bytes of the content, or `nil` when they are to be read from the store as they are sent. Of concurrent
    /// callers one calls `load` and the others wait; only that one gets its error.
    func bytes(of content: ContentDescriptor, load: () async throws -> ByteBuffer) async throws -> ByteBuffer? {
        let digest = content.sha256
        switch state.withLock({ $0.ledger.ask(for: digest, size: content.byteCount, at: clock.uptime) }) {
        case .serve(let bytes): return bytes
        case .stream: return nil
        case .join: return await join(digest)
        case .load: return try await loaded(digest, load)
        }
    }

    private func loaded(_ digest: String, _ load: () async throws -> ByteBuffer) async throws -> ByteBuffer {
        do {
            let bytes = try await load()
            end(digest, bytes)
            return bytes
        } catch {
            end(digest, nil)
            throw error
        }
    }

    private func end(_ digest: String, _ bytes: ByteBuffer?) {
        let waiters = state.withLock { state in
            if let bytes {
                state.ledger.loaded(bytes, of: digest, at: clock.uptime)
            } else {
                state.ledger.failed(digest)
            }
            return state.waiting.removeValue(forKey: digest) ?? []
        }
        for waiter in waiters { waiter.resume(returning: bytes) }
    }

    private func join(_ digest: String) async -> ByteBuffer? {
        await withCheckedContinuation { continuation in
            // The load may have ended since this caller decided to wait; then its bytes are cached.
            let (isWaiting, bytes) = state.withLock { state in
                guard state.ledger.isLoading(digest) else { return (false, state.ledger.bytes(of: digest)) }
                state.waiting[digest, default: []].append(continuation)
                return (true, nil)
            }
            if !isWaiting { continuation.resume(returning: bytes) }
        }
    }
}

/// Which contents are in memory, and which should be. A value without I/O.
///
/// A content is kept from the second time on that it is asked for within `lifetime`: what one phone fetches once is not worth its
/// memory. It goes with the first question, for whatever content, that comes `lifetime` or more after it was read from the store, so that
/// what was erased does not stay; where there is no room, the least recently requested one is evicted.
struct SmallContentCachePolicy: Sendable {
    /// What to do for a request.
    enum Answer: Equatable {
        case serve(ByteBuffer)
        /// Read it from the store as it is sent.
        case stream
        /// Read it from the store whole, then say `loaded` or `failed`.
        case load
        /// Wait for the caller that loads it.
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

    /// Whether a caller is reading it from the store.
    func isLoading(_ digest: String) -> Bool { loading.contains(digest) }

    /// The cached bytes of a content; not counted as a request.
    func bytes(of digest: String) -> ByteBuffer? { entries[digest]?.bytes }

    /// A caller that had to load it has read these bytes.
    mutating func loaded(_ bytes: ByteBuffer, of digest: String, at uptime: Duration) {
        loading.remove(digest)
        askedOnce[digest] = nil
        forget(digest)
        makeRoom(for: bytes.readableBytes)
        entries[digest] = Entry(bytes: bytes, loadedAt: uptime, askedAt: uptime)
        size += bytes.readableBytes
    }

    /// A caller that had to load it failed.
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
            // If it was requested lately, the next request loads it into the cache again.
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
