import APNsProtocol
import Crypto
import RichPushModel
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The provider tokens of the node: one for each signing key, whichever hubs have it.
///
/// APNs counts how often the token of a key changes and refuses more than one change in 20 minutes (Reference/APNs.md#2-1). So
/// hubs with one key share its token, and a client that was closed when idle and is made again goes on with the token from
/// before.
package final class ProviderTokens: Sendable {
    /// The most keys that are remembered; the one that was asked for longest ago goes first.
    static let capacity = 512
    /// How long ago the tokens went out that `oldestAgeInUse` is about.
    static let recent = Duration.seconds(60)

    private struct Key: Hashable {
        var digest: SHA256.Digest
        var keyID: String
        var teamID: String
    }

    private struct Entry {
        var cache: ProviderTokenCache
        var askedAt: Duration
    }

    private let clock: any ServiceClock
    private let capacity: Int
    private let entries = Mutex<[Key: Entry]>([:])

    init(clock: any ServiceClock, capacity: Int = ProviderTokens.capacity) {
        self.clock = clock
        self.capacity = capacity
    }

    /// The token of a key. Throws when the key cannot be read; the fault says nothing of it.
    func cache(key pem: String, keyID: String, teamID: String) throws(ProviderTokenKeyFault) -> ProviderTokenCache {
        let key = Key(digest: SHA256.hash(data: Array(pem.utf8)), keyID: keyID, teamID: teamID)
        let now = clock.uptime
        let known = entries.withLock { entries in
            entries[key]?.askedAt = now
            return entries[key]?.cache
        }
        if let known { return known }
        let made = ProviderTokenCache(key: try ProviderTokenKey(pem: pem, keyID: keyID, teamID: teamID), clock: clock)
        return entries.withLock { entries in
            // Another may have been faster with the same key.
            if let known = entries[key]?.cache { return known }
            if entries.count >= capacity, let oldest = entries.min(by: { $0.value.askedAt < $1.value.askedAt })?.key {
                entries[oldest] = nil
            }
            entries[key] = Entry(cache: made, askedAt: now)
            return made
        }
    }

    /// The age of the oldest token that went out within the last minute; `nil` when none did. The age of an unused one does not matter.
    package var oldestAgeInUse: Duration? {
        entries.withLock { entries in entries.values.compactMap { $0.cache.age(ifUsedWithin: Self.recent) }.max() }
    }
}
