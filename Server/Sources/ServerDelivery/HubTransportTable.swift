import PushHub
import RichPushModel

/// One push service of a hub.
struct HubPlatform: Hashable {
    var hub: HubID
    var platform: Platform
}

/// The transports of the hubs, as a value without I/O: which one a batch uses, which must be made, and which are to be closed.
struct HubTransportTable<Transport: Sendable> {
    /// What a batch gets.
    enum Decision {
        case use(Transport)
        /// None fits: make one and `adopt` it.
        case make
        /// As many are in use as there may be.
        case full
    }

    private struct Entry {
        /// Identifies the credential that it was made with.
        var sealed: String
        var transport: Transport
        var users: Int
        var usedAt: Duration
    }

    private let capacity: Int
    private let idleTime: Duration
    private var entries: [HubPlatform: Entry] = [:]
    /// Replaced while in use; closed when the last batch has ended.
    private var leaving: [(hub: HubPlatform, entry: Entry)] = []
    private var closing: [Transport] = []

    init(capacity: Int, idleTime: Duration) {
        self.capacity = capacity
        self.idleTime = idleTime
    }

    /// A batch of a hub with this credential begins. After `use`, `end` must follow.
    mutating func begin(_ hub: HubPlatform, sealed: String, at uptime: Duration) -> Decision {
        if let entry = entries[hub] {
            if entry.sealed == sealed {
                entries[hub]?.users += 1
                entries[hub]?.usedAt = uptime
                return .use(entry.transport)
            }
            retire(hub)
        }
        return makeRoom() ? .make : .full
    }

    /// A transport was made for the hub. If another was faster with the same credential, that one holds, and the new one is closed.
    mutating func adopt(_ transport: Transport, _ hub: HubPlatform, sealed: String, at uptime: Duration) -> Transport {
        if let entry = entries[hub], entry.sealed == sealed {
            closing.append(transport)
            entries[hub]?.users += 1
            entries[hub]?.usedAt = uptime
            return entry.transport
        }
        retire(hub)
        entries[hub] = Entry(sealed: sealed, transport: transport, users: 1, usedAt: uptime)
        return transport
    }

    /// A batch that was given the transport made with this credential has ended.
    mutating func end(_ hub: HubPlatform, sealed: String, at uptime: Duration) {
        if entries[hub]?.sealed == sealed {
            entries[hub]?.users -= 1
            entries[hub]?.usedAt = uptime
        } else if let index = leaving.firstIndex(where: { $0.hub == hub && $0.entry.sealed == sealed }) {
            leaving[index].entry.users -= 1
            if leaving[index].entry.users == 0 { closing.append(leaving.remove(at: index).entry.transport) }
        }
    }

    /// The transport of a hub that has no credential of its own any more.
    mutating func drop(_ hub: HubPlatform) { retire(hub) }

    /// What is to be closed now, each once: replaced ones that no batch uses any more, and those that were idle for long.
    mutating func takeClosing(at uptime: Duration) -> [Transport] {
        for (hub, entry) in entries where entry.users == 0 && uptime - entry.usedAt >= idleTime { retire(hub) }
        defer { closing = [] }
        return closing
    }

    /// Everything, at the end.
    mutating func takeAll() -> [Transport] {
        defer { (entries, leaving, closing) = ([:], [], []) }
        return entries.values.map(\.transport) + leaving.map(\.entry.transport) + closing
    }

    /// How many there are, including replaced ones still in use.
    var count: Int { entries.count + leaving.count }

    private mutating func retire(_ hub: HubPlatform) {
        guard let entry = entries.removeValue(forKey: hub) else { return }
        if entry.users == 0 { closing.append(entry.transport) } else { leaving.append((hub, entry)) }
    }

    /// Gives up the one that was not used for longest, if as many are there as may be.
    private mutating func makeRoom() -> Bool {
        guard count >= capacity else { return true }
        guard let oldest = entries.filter({ $0.value.users == 0 }).min(by: { $0.value.usedAt < $1.value.usedAt }) else {
            return false
        }
        retire(oldest.key)
        return true
    }
}
