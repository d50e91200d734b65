import RichPushModel
import SharedAccess
import Synchronization

/// A bounded memory of credentials that were verified a short while ago, under a keyed digest.
final class VerifiedCredentials<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var until: Duration
    }

    private let digest = KeyedDigest()
    private let lifetime: Duration
    private let capacity: Int
    private let entries = Mutex<[[UInt8]: Entry]>([:])

    init(lifetime: Duration, capacity: Int = 20_000) {
        self.lifetime = lifetime
        self.capacity = capacity
    }

    /// The name of a credential in this memory.
    func key(of parts: [String]) -> [UInt8] { digest.digest(of: parts) }

    func value(for key: [UInt8], at uptime: Duration) -> Value? {
        entries.withLock { entries in
            guard let entry = entries[key], uptime < entry.until else { return nil }
            return entry.value
        }
    }

    func store(_ value: Value, for key: [UInt8], at uptime: Duration) {
        entries.withLock { entries in
            if entries.count >= capacity { entries = entries.filter { uptime < $0.value.until } }
            if entries.count >= capacity { entries.removeAll(keepingCapacity: true) }
            entries[key] = Entry(value: value, until: uptime + lifetime)
        }
    }

    /// Forgets one.
    func remove(_ key: [UInt8]) { entries.withLock { $0[key] = nil } }

    /// Forgets all.
    func forget() { entries.withLock { $0.removeAll() } }
}
