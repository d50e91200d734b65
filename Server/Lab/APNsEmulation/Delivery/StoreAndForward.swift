import APNsProtocol
import RichPushModel
import ServiceEmulation

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What happens to a push after APNs accepted it: Apple's delivery diagrams as a state machine (Reference/APNs.md#7-3).
///
/// It keeps one push per device and app, the newest, and one background push beside it. It does nothing itself: every
/// event returns what has to be done, in order.
struct StoreAndForward: Sendable {
    /// What the caller does next.
    enum Instruction: Sendable, Hashable {
        /// Hand it to the device, which is online. `stored`: it waited before.
        case deliver(AcceptedPush, stored: Bool)
        /// It went no further, or waits: note it in the delivery log.
        case note(AcceptedPush, DeliveryRecord.State)
    }

    /// The longest time APNs stores a push.
    static let longestStorage = Duration.seconds(30 * 86_400)

    private var mailboxes: [String: DeviceMailbox] = [:]
    /// Devices with a background push that waits for budget while they are online.
    private var holding: Set<String> = []

    /// A push was accepted.
    mutating func accept(_ push: AcceptedPush, now: Timestamp) -> [Instruction] {
        change(push.device) { $0.accept(push, now: now) }
    }

    /// The device came online.
    mutating func connect(_ device: String, now: Timestamp) -> [Instruction] {
        change(device) { $0.connect(now: now) }
    }

    /// The device went offline; what is held stays held.
    mutating func disconnect(_ device: String) {
        _ = change(device) { mailbox in
            mailbox.isOnline = false
            return []
        }
    }

    func isOnline(_ device: String) -> Bool { mailboxes[device]?.isOnline ?? false }

    mutating func setBackgroundBudget(_ budget: Int?, device: String, now: Timestamp) -> [Instruction] {
        change(device) { mailbox in
            mailbox.backgroundBudgetPerHour = budget.map { max(0, $0) }
            return mailbox.releaseHeld(now: now)
        }
    }

    mutating func appOpened(device: String, bundleID: String, now: Timestamp) -> [Instruction] {
        change(device) { $0.appOpened(bundleID, now: now) }
    }

    mutating func appForceQuit(device: String, bundleID: String) -> [Instruction] {
        change(device) { $0.appForceQuit(bundleID) }
    }

    /// Time has passed: delivers held background pushes whose budget is free again, drops those that expired.
    mutating func releaseHeld(now: Timestamp) -> [Instruction] {
        holding.sorted().flatMap { device in change(device) { $0.releaseHeld(now: now) } }
    }

    private mutating func change(_ device: String, _ event: (inout DeviceMailbox) -> [Instruction]) -> [Instruction] {
        let instructions = event(&mailboxes[device, default: DeviceMailbox()])
        if mailboxes[device]?.isHolding == true { holding.insert(device) } else { holding.remove(device) }
        return instructions
    }
}

/// What APNs keeps for one device. Slots are per bundle id.
private struct DeviceMailbox: Sendable {
    typealias Instruction = StoreAndForward.Instruction

    private struct Waiting: Sendable {
        var push: AcceptedPush
        var until: Timestamp
    }

    var isOnline = false
    /// `nil`: no limit.
    var backgroundBudgetPerHour: Int?
    private var stored: [String: Waiting] = [:]
    private var background: [String: Waiting] = [:]
    /// When background pushes were delivered within the last hour.
    private var backgroundDeliveries: [String: [Timestamp]] = [:]
    private var forceQuit: Set<String> = []

    /// Whether a background push waits although the device is online.
    var isHolding: Bool { isOnline && !background.isEmpty }

    mutating func accept(_ push: AcceptedPush, now: Timestamp) -> [Instruction] {
        if push.pushType == .background { return acceptBackground(push, now: now) }
        if isOnline { return [.deliver(push, stored: false)] }
        return Self.keep(push, as: .stored, in: &stored, now: now)
    }

    private mutating func acceptBackground(_ push: AcceptedPush, now: Timestamp) -> [Instruction] {
        if forceQuit.contains(push.bundleID) { return [.note(push, .suppressed)] }
        guard isOnline else { return Self.keep(push, as: .stored, in: &background, now: now) }
        guard spendBudget(push.bundleID, now: now) else {
            return Self.keep(push, as: .held, in: &background, now: now)
        }
        let replaced = background.removeValue(forKey: push.bundleID).map { [Instruction.note($0.push, .replaced)] } ?? []
        return replaced + [.deliver(push, stored: false)]
    }

    /// Expiration 0 means one attempt and no storage; no expiration means Apple's policy of up to 30 days.
    private static func keep(
        _ push: AcceptedPush, as state: DeliveryRecord.State, in slots: inout [String: Waiting], now: Timestamp
    ) -> [Instruction] {
        let longest = now + StoreAndForward.longestStorage
        let until = push.expiration.map { min(Timestamp(seconds: $0), longest) } ?? longest
        if push.expiration == 0 { return [.note(push, .discarded)] }
        guard until > now else { return [.note(push, .expired)] }
        let replaced = slots.updateValue(Waiting(push: push, until: until), forKey: push.bundleID)
        return (replaced.map { [.note($0.push, .replaced)] } ?? []) + [.note(push, state)]
    }

    /// Oldest first. A background push comes only as far as its budget goes.
    mutating func connect(now: Timestamp) -> [Instruction] {
        isOnline = true
        var instructions: [Instruction] = []
        for waiting in stored.values.sorted(by: Self.isOlder) {
            let alive = waiting.until > now
            instructions.append(alive ? .deliver(waiting.push, stored: true) : .note(waiting.push, .expired))
        }
        stored.removeAll()
        return instructions + releaseHeld(now: now)
    }

    /// Delivers what the budget allows by now and drops what expired.
    mutating func releaseHeld(now: Timestamp) -> [Instruction] {
        guard isOnline else { return [] }
        var instructions: [Instruction] = []
        for (bundleID, waiting) in background.sorted(by: { Self.isOlder($0.value, $1.value) }) {
            if waiting.until <= now {
                instructions.append(.note(waiting.push, .expired))
            } else if spendBudget(bundleID, now: now) {
                instructions.append(.deliver(waiting.push, stored: true))
            } else {
                continue
            }
            background[bundleID] = nil
        }
        return instructions
    }

    mutating func appOpened(_ bundleID: String, now: Timestamp) -> [Instruction] {
        forceQuit.remove(bundleID)
        guard isOnline, let waiting = background.removeValue(forKey: bundleID) else { return [] }
        return [waiting.until > now ? .deliver(waiting.push, stored: true) : .note(waiting.push, .expired)]
    }

    mutating func appForceQuit(_ bundleID: String) -> [Instruction] {
        forceQuit.insert(bundleID)
        return background.removeValue(forKey: bundleID).map { [.note($0.push, .suppressed)] } ?? []
    }

    private mutating func spendBudget(_ bundleID: String, now: Timestamp) -> Bool {
        guard let budget = backgroundBudgetPerHour else { return true }
        let recent = backgroundDeliveries[bundleID, default: []].filter { now - $0 < .seconds(3_600) }
        let isAllowed = recent.count < budget
        backgroundDeliveries[bundleID] = isAllowed ? recent + [now] : recent
        return isAllowed
    }

    private static func isOlder(_ left: Waiting, _ right: Waiting) -> Bool {
        (left.push.receivedAt, left.push.bundleID) < (right.push.receivedAt, right.push.bundleID)
    }
}

/// The newest deliveries by `apns-unique-id`, as Apple's console shows them. Bounded: the oldest entry goes first.
///
/// A broadcast has one id and an entry for each subscriber.
struct DeliveryLog: Sendable {
    private struct Key: Hashable {
        var uniqueID: UUID
        var device: String
    }

    private var entries: [Key: DeliveryRecord] = [:]
    private var devices: [UUID: [String]] = [:]
    private var order: NewestEntries<Key>

    init(capacity: Int) { order = NewestEntries(capacity: capacity) }

    /// Oldest first.
    var records: [DeliveryRecord] { order.elements.compactMap { entries[$0] } }

    /// Everything that is known of one id, one entry for each device, oldest first.
    func records(of uniqueID: UUID) -> [DeliveryRecord] {
        (devices[uniqueID] ?? []).compactMap { entries[Key(uniqueID: uniqueID, device: $0)] }
    }

    mutating func clear() { self = DeliveryLog(capacity: order.capacity) }

    mutating func note(_ push: AcceptedPush, _ state: DeliveryRecord.State, at moment: Timestamp) {
        let key = Key(uniqueID: push.uniqueID, device: push.device)
        if entries[key] != nil {
            entries[key]?.state = state
            entries[key]?.changedAt = moment
            return
        }
        guard order.capacity > 0 else { return }
        // A push that waited longer than the log remembers begins a new entry, so its fate is still recorded.
        entries[key] = DeliveryRecord(
            uniqueID: push.uniqueID, apnsID: push.apnsID, device: push.device, topic: push.topic, state: state,
            acceptedAt: push.receivedAt, changedAt: moment)
        devices[push.uniqueID, default: []].append(push.device)
        if let oldest = order.append(key) { forget(oldest) }
    }

    private mutating func forget(_ key: Key) {
        entries[key] = nil
        devices[key.uniqueID]?.removeAll { $0 == key.device }
        if devices[key.uniqueID]?.isEmpty == true { devices[key.uniqueID] = nil }
    }
}

/// What became of an accepted push: one entry of the delivery log.
public struct DeliveryRecord: Sendable, Hashable {
    /// The states of Apple's delivery diagrams (Reference/APNs.md#7-3).
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Waits until the device connects.
        case stored
        /// Waits until the background budget allows it or the app is opened.
        case held
        case delivered
        /// The device was offline and the sender wanted no storage.
        case discarded
        /// It expired while stored.
        case expired
        /// A newer push replaced it while stored.
        case replaced
        /// The user force-quit the app; background pushes do not start it.
        case suppressed
        /// The device was connected but read too slowly.
        case overflowed
    }

    public var uniqueID: UUID
    public var apnsID: UUID
    public var device: String
    public var topic: String
    public var state: State
    public var acceptedAt: Timestamp
    /// When the present state began.
    public var changedAt: Timestamp
}

/// A push that passed every check and now has to reach its device.
struct AcceptedPush: Sendable, Hashable {
    var device: String
    var token: String
    var topic: String
    var bundleID: String
    var apnsID: UUID
    var uniqueID: UUID
    var pushType: APNsPushType?
    var priority: Int
    var expiration: Int64?
    var collapseID: String?
    var payload: [UInt8]
    var receivedAt: Timestamp
    /// The channel of a broadcast.
    var channelID: String?

    /// A broadcast as it goes to one of its subscribers.
    func addressed(to device: String) -> AcceptedPush {
        var copy = self
        copy.device = device
        return copy
    }

    func delivered(at moment: Timestamp, stored: Bool) -> DeliveredPush {
        DeliveredPush(
            device: device, token: token, topic: topic, bundleID: bundleID, apnsID: apnsID, uniqueID: uniqueID,
            pushType: pushType, priority: priority, expiration: expiration, collapseID: collapseID, payload: payload,
            receivedAt: receivedAt, deliveredAt: moment, storedWhileOffline: stored, channelID: channelID)
    }
}

/// A push as it reaches a device.
public struct DeliveredPush: Sendable, Hashable {
    /// The name that the device was given when its token was issued.
    public var device: String
    /// The device token the sender used, in lower-case hex; empty for a broadcast.
    public var token: String
    /// The topic as sent, with its suffix.
    public var topic: String
    /// The topic without the suffix of the push type.
    public var bundleID: String
    public var apnsID: UUID
    /// The key of the delivery log.
    public var uniqueID: UUID
    /// As sent; `nil` when the sender left it out.
    public var pushType: APNsPushType?
    /// 10, 5 or 1; 10 when the sender left it out.
    public var priority: Int
    /// Seconds since 1970 as sent; `nil` is not the same as 0.
    public var expiration: Int64?
    public var collapseID: String?
    public var payload: [UInt8]
    /// When APNs accepted it.
    public var receivedAt: Timestamp
    /// When it was handed to the device.
    public var deliveredAt: Timestamp
    /// Whether it waited, because the device was offline or its background budget was used up.
    public var storedWhileOffline: Bool
    /// The channel of a broadcast; `nil` for a push to a device token.
    public var channelID: String?
}

/// What became of an accepted push that did not go to its device at once (Reference/APNs.md#7-3).
public struct PushFate: Sendable, Hashable {
    /// The name that the device was given when its token was issued.
    public var device: String
    public var apnsID: UUID
    public var payload: [UInt8]
    /// Anything but `delivered`, which the device's own stream reports.
    public var state: DeliveryRecord.State
    /// When that was decided.
    public var moment: Timestamp

    init(_ push: AcceptedPush, _ state: DeliveryRecord.State, at moment: Timestamp) {
        device = push.device
        apnsID = push.apnsID
        payload = push.payload
        self.state = state
        self.moment = moment
    }
}
