import APNsProtocol
import RichPushModel

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
