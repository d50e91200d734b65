import APNsProtocol
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The broadcast channels of every app in one environment (Reference/APNs.md#5).
struct ChannelTable: Sendable {
    typealias Instruction = StoreAndForward.Instruction

    private var channels: [String: BroadcastChannel] = [:]
    /// How many living channels an app has.
    private var counts: [String: Int] = [:]
    /// The channels that a device follows.
    private var followed: [String: Set<String>] = [:]
    private var sequence = 0

    /// A living channel of this app.
    func channel(_ id: String, bundleID: String) -> BroadcastChannel? {
        guard let channel = channels[id], channel.bundleID == bundleID, !channel.isDeleted else { return nil }
        return channel
    }

    func count(bundleID: String) -> Int { counts[bundleID] ?? 0 }

    /// The ids of an app, oldest first.
    func list(bundleID: String) -> [String] {
        channels.values.filter { $0.bundleID == bundleID && !$0.isDeleted }.sorted { $0.sequence < $1.sequence }.map(\.id)
    }

    mutating func create(bundleID: String, policy: ChannelPolicy, random: inout RandomSource) -> String {
        var id = random.channelID()
        while channels[id] != nil { id = random.channelID() }
        sequence += 1
        channels[id] = BroadcastChannel(id: id, bundleID: bundleID, policy: policy, sequence: sequence)
        counts[bundleID, default: 0] += 1
        return id
    }

    /// The living channels, oldest first.
    var living: [BroadcastChannel] { channels.values.filter { !$0.isDeleted }.sorted { $0.sequence < $1.sequence } }

    /// Takes in a channel of an earlier run, behind those that are there.
    mutating func restore(_ id: String, bundleID: String, policy: ChannelPolicy, subscribers: [String]) {
        guard channels[id] == nil else { return }
        sequence += 1
        var channel = BroadcastChannel(id: id, bundleID: bundleID, policy: policy, sequence: sequence)
        for device in subscribers {
            _ = channel.subscribe(device, isOnline: false, getsStored: false, now: Timestamp(seconds: 0))
            followed[device, default: []].insert(id)
        }
        channels[id] = channel
        counts[bundleID, default: 0] += 1
    }

    /// Deletes a channel. What it stored is not recalled.
    mutating func delete(_ id: String) {
        guard let channel = channels[id], !channel.isDeleted else { return }
        counts[channel.bundleID, default: 1] -= 1
        channels[id]?.isDeleted = true
        if channel.stored == nil { forget(id) }
    }

    /// The broadcast capability was switched off: every channel of the app goes, with what it stored.
    mutating func deleteAll(bundleID: String) {
        for id in channels.values.filter({ $0.bundleID == bundleID }).map(\.id) { forget(id) }
        counts[bundleID] = nil
    }

    mutating func subscribe(
        _ device: String, to id: String, isOnline: Bool, getsStored: Bool, now: Timestamp
    ) -> [Instruction] {
        followed[device, default: []].insert(id)
        return channels[id]?.subscribe(device, isOnline: isOnline, getsStored: getsStored, now: now) ?? []
    }

    mutating func unsubscribe(_ device: String, from id: String) {
        followed[device]?.remove(id)
        channels[id]?.unsubscribe(device)
    }

    mutating func publish(_ push: AcceptedPush, on id: String, isOnline: (String) -> Bool, now: Timestamp) -> [Instruction] {
        channels[id]?.publish(push, isOnline: isOnline, now: now) ?? []
    }

    /// A device came online: it gets what its channels stored, the channel that is oldest first.
    mutating func cameOnline(_ device: String, now: Timestamp) -> [Instruction] {
        var instructions: [Instruction] = []
        let ids = (followed[device] ?? []).compactMap { channels[$0] }.sorted { $0.sequence < $1.sequence }.map(\.id)
        for id in ids { instructions += channels[id]?.cameOnline(device, now: now) ?? [] }
        return instructions
    }

    /// Time has passed: stored broadcasts end, and deleted channels that stored nothing else are forgotten.
    mutating func dropExpired(now: Timestamp) -> [Instruction] {
        var instructions: [Instruction] = []
        for channel in channels.values.filter({ $0.stored != nil }).sorted(by: { $0.sequence < $1.sequence }) {
            instructions += channels[channel.id]?.dropExpired(now: now) ?? []
            if channel.isDeleted, channels[channel.id]?.stored == nil { forget(channel.id) }
        }
        return instructions
    }

    private mutating func forget(_ id: String) {
        guard let channel = channels.removeValue(forKey: id) else { return }
        for device in channel.subscribers { followed[device]?.remove(id) }
    }
}

/// One broadcast channel of an app.
struct BroadcastChannel: Sendable {
    typealias Instruction = StoreAndForward.Instruction

    /// The most recent broadcast of a channel that stores.
    struct Stored: Sendable {
        var push: AcceptedPush
        var until: Timestamp
        /// Devices that have it.
        var reached: Set<String>
    }

    /// The longest time a broadcast is stored.
    static let longestStorage = Duration.seconds(8 * 3_600)

    let id: String
    let bundleID: String
    let policy: ChannelPolicy
    /// Grows with each channel, so that a list has an order.
    let sequence: Int
    /// A deleted channel takes nothing more, but what it stored still goes out.
    var isDeleted = false
    private(set) var subscribers: Set<String> = []
    private(set) var stored: Stored?

    init(id: String, bundleID: String, policy: ChannelPolicy, sequence: Int) {
        self.id = id
        self.bundleID = bundleID
        self.policy = policy
        self.sequence = sequence
    }

    /// Adds a device. A stored broadcast reaches it at once if it is online.
    mutating func subscribe(_ device: String, isOnline: Bool, getsStored: Bool, now: Timestamp) -> [Instruction] {
        guard subscribers.insert(device).inserted else { return [] }
        guard getsStored else {
            stored?.reached.insert(device)
            return []
        }
        return isOnline ? cameOnline(device, now: now) : []
    }

    mutating func unsubscribe(_ device: String) { subscribers.remove(device) }

    /// A broadcast was accepted: everyone online gets it, for the others it is stored if channel and sender want that.
    mutating func publish(_ push: AcceptedPush, isOnline: (String) -> Bool, now: Timestamp) -> [Instruction] {
        let longest = now + Self.longestStorage
        let until = push.expiration.map { min(Timestamp(seconds: $0), longest) } ?? longest
        let isStored = policy == .mostRecent && push.expiration != 0 && until > now
        var instructions = isStored ? replaceStored() : []
        var reached: Set<String> = []
        for device in subscribers.sorted() {
            let copy = push.addressed(to: device)
            if isOnline(device) {
                reached.insert(device)
                instructions.append(.deliver(copy, stored: false))
            } else {
                instructions.append(.note(copy, isStored ? .stored : .discarded))
            }
        }
        if isStored { stored = Stored(push: push, until: until, reached: reached) }
        return instructions
    }

    /// A subscriber came online: it gets what is stored, once.
    mutating func cameOnline(_ device: String, now: Timestamp) -> [Instruction] {
        guard subscribers.contains(device), let waiting = stored, !waiting.reached.contains(device) else { return [] }
        stored?.reached.insert(device)
        let copy = waiting.push.addressed(to: device)
        return [waiting.until > now ? .deliver(copy, stored: true) : .note(copy, .expired)]
    }

    /// Drops an expired stored broadcast, and records that for every device that missed it.
    mutating func dropExpired(now: Timestamp) -> [Instruction] {
        guard let waiting = stored, waiting.until <= now else { return [] }
        stored = nil
        return missed(waiting).map { .note($0, .expired) }
    }

    private mutating func replaceStored() -> [Instruction] {
        guard let waiting = stored else { return [] }
        stored = nil
        return missed(waiting).map { .note($0, .replaced) }
    }

    private func missed(_ waiting: Stored) -> [AcceptedPush] {
        subscribers.subtracting(waiting.reached).sorted().map(waiting.push.addressed)
    }
}

/// What APNs keeps of the broadcasts on a channel (Reference/APNs.md#5-1); fixed when the channel is created.
public enum ChannelPolicy: Int, Sendable, Hashable, CaseIterable, Codable {
    /// Nothing: devices that are not connected miss it. `apns-expiration` has to be 0.
    case none = 0
    /// The most recent broadcast, for at most eight hours.
    case mostRecent = 1
}
