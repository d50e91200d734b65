import Hummingbird
import RichPushModel
import Synchronization

/// The small contents that many phones fetch at the same time, as after a push: read from the store once and sent from memory.
///
/// The caller has made sure that the content may be read; bytes are found by their digest, so they are never out of date.
final class HotContents: Sendable {
    private typealias Waiter = CheckedContinuation<ByteBuffer?, Never>

    private struct State {
        var ledger = HotContentLedger()
        var waiting: [String: [Waiter]] = [:]
    }

    private let clock: any ServiceClock
    private let state = Mutex(State())

    init(clock: any ServiceClock) { self.clock = clock }

    /// All bytes of the content, or `nil` when they are to be read from the store as they are sent. Of those who come while it is
    /// loaded, one calls `load` and the others wait; an error is that one's alone.
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
            // It may have ended since this caller was told to wait; then what was loaded is there.
            let (isWaiting, bytes) = state.withLock { state in
                guard state.ledger.isLoading(digest) else { return (false, state.ledger.bytes(of: digest)) }
                state.waiting[digest, default: []].append(continuation)
                return (true, nil)
            }
            if !isWaiting { continuation.resume(returning: bytes) }
        }
    }
}
