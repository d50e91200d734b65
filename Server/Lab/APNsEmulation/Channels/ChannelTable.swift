import RichPushModel

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
