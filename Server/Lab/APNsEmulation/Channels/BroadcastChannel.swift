import RichPushModel

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

    /// Drops a stored broadcast whose time is over, and says so for everybody who missed it.
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
