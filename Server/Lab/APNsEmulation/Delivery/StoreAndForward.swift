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
