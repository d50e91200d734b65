import RichPushModel

/// A message for a device, from acceptance to its end.
struct DeviceMessage: Sendable, Hashable, Codable {
    var id, from: String
    var content: SentMessage
    var sentAt, expiresAt: Timestamp
}

/// What a device decides: events for its app, and what became of messages.
struct DeviceOutcome: Sendable {
    var events: [AndroidEvent] = []
    var states: [(messageID: String, state: FCMDeliveryRecord.State)] = []
}

/// One app on one device, as service and phone know it together (Reference/FCM.md#4 and #6). A pure state machine: time comes in.
struct AndroidDevice: Sendable {
    let project, package: String
    let platform: DevicePlatform
    var fid: String
    /// The living registration token; `nil` while the app is not installed.
    var token: String?
    var lastSeen: Timestamp
    var isOnline = true
    var isDozing = false
    var isForceStopped = false
    var isForeground = false
    var isUnlocked = true
    var topics: Set<String> = []
    /// In the order of their arrival.
    var waiting: [DeviceMessage] = []
    /// Too many waited, of which the app hears.
    var hasLostMessages = false
    /// Messages of high priority since the app showed something.
    var silentMessages = 0
    /// What the system shows.
    var tray: [DeviceMessage] = []
    /// What it has decided and the service has not taken yet.
    var outcome = DeviceOutcome()

    /// The system shows at most so many notifications of an app.
    private static let trayLimit = 50

    /// No contact for too long.
    func isExpired(at now: Timestamp, days: Int) -> Bool {
        !isOnline && now - lastSeen > .seconds(Int64(days) * 86_400)
    }

    /// Takes a message in: it is delivered, waits, or is gone.
    mutating func take(_ message: DeviceMessage, _ quotas: LocalFCMQuotas, _ now: Timestamp) {
        expire(at: now)
        if obstacle(to: message, quotas) == nil {
            deliver(message, quotas)
        } else if message.content.life == 0 {
            outcome.states.append((message.id, .missed))
        } else {
            store(message, quotas)
        }
    }

    /// Demoted without notice when the app shows nothing (Reference/FCM.md#6).
    private func isHigh(_ message: DeviceMessage, _ quotas: LocalFCMQuotas) -> Bool {
        message.content.isHighPriority
            && (message.content.notification != nil || silentMessages < quotas.silentHighPriority ?? .max)
    }

    private func received(_ message: DeviceMessage, _ quotas: LocalFCMQuotas) -> AndroidMessage {
        let content = message.content
        return AndroidMessage(
            id: message.id, from: message.from, data: content.data, notification: content.notification.map { .object($0) },
            collapseKey: content.collapseKey, hasHighOriginalPriority: content.isHighPriority,
            hasHighPriority: isHigh(message, quotas), sentAt: message.sentAt, timeToLive: content.life)
    }

    /// Why a message has to wait; `nil` when it is delivered now.
    private func obstacle(to message: DeviceMessage, _ quotas: LocalFCMQuotas, duringMaintenance: Bool = false)
        -> AndroidObstacle?
    {
        if token == nil { return .notInstalled }
        if !isOnline { return .offline }
        guard platform == .android else { return nil }
        if isForceStopped { return .forceStopped }
        if !isUnlocked, !message.content.isForDirectBoot { return .locked }
        return isDozing && !duringMaintenance && !isHigh(message, quotas) ? .doze : nil
    }

    private mutating func deliver(_ message: DeviceMessage, _ quotas: LocalFCMQuotas) {
        let received = received(message, quotas)
        if message.content.isHighPriority, message.content.notification == nil { silentMessages += 1 }
        if received.notification != nil, !isForeground {
            tray = tray.suffix(Self.trayLimit - 1) + [message]
            outcome.events.append(.shown(received))
        } else {
            outcome.events.append(.message(received))
        }
        outcome.states.append((message.id, .delivered))
    }

    private mutating func store(_ message: DeviceMessage, _ quotas: LocalFCMQuotas) {
        let key = message.content.collapseKey
        let isFull = waiting.count { $0.content.collapseKey == nil } >= quotas.waitingMessages
        if let key {
            drop(.collapsed) { $0.content.collapseKey == key }
            let keys = waiting.compactMap(\.content.collapseKey)
            // Which key goes is not defined (Reference/FCM.md#2-2). Here it is the oldest.
            if Set(keys).count >= quotas.collapseKeys, let oldest = keys.first {
                drop(.collapsed) { $0.content.collapseKey == oldest }
            }
        }
        waiting.append(message)
        outcome.states.append((message.id, .stored))
        if key == nil, isFull {
            drop(.dropped) { $0.content.collapseKey == nil }
            hasLostMessages = true
        }
    }

    private mutating func drop(_ state: FCMDeliveryRecord.State, where isGone: (DeviceMessage) -> Bool) {
        outcome.states += waiting.filter(isGone).map { ($0.id, state) }
        waiting.removeAll(where: isGone)
    }

    mutating func expire(at now: Timestamp) { drop(.expired) { $0.expiresAt <= now } }

    /// Delivers what may be delivered now, in its order.
    private mutating func deliverWaiting(_ quotas: LocalFCMQuotas, duringMaintenance: Bool) {
        if hasLostMessages, token != nil, isOnline, !isForceStopped, isUnlocked {
            hasLostMessages = false
            outcome.events.append(.deletedMessages)
        }
        for message in waiting where obstacle(to: message, quotas, duringMaintenance: duringMaintenance) == nil {
            waiting.removeAll { $0.id == message.id }
            deliver(message, quotas)
        }
    }

    /// What the device is now, for an operator who looks at it.
    func status(_ name: String, _ quotas: LocalFCMQuotas) -> AndroidStatus {
        let waits = waiting.compactMap { message in
            obstacle(to: message, quotas).map { AndroidStatus.Waiting(message: received(message, quotas), obstacle: $0) }
        }
        return AndroidStatus(
            name: name, project: project, package: package, platform: platform, token: token, fid: fid, isOnline: isOnline,
            isDozing: isDozing, isForceStopped: isForceStopped, isForeground: isForeground, isUnlocked: isUnlocked,
            topics: topics.sorted(), waiting: waits, shown: tray.map { received($0, quotas) })
    }

    /// Does what needs no new names. `renewToken` and `install` are the service's, which gives the names.
    mutating func act(_ action: AndroidAction, _ quotas: LocalFCMQuotas, _ now: Timestamp) {
        expire(at: now)
        if isOnline { lastSeen = max(lastSeen, now) }
        switch action {
        case .goOnline: (isOnline, lastSeen) = (true, now)
        case .goOffline: isOnline = false
        case .enterDoze: (isDozing, isForeground) = (true, false)
        case .leaveDoze: isDozing = false
        case .forceStop: (isForceStopped, isForeground) = (true, false)
        case .openApp: (isForceStopped, isForeground, isDozing, isUnlocked) = (false, true, false, true)
        case .leaveApp: isForeground = false
        case .restart: (isUnlocked, isForeground, tray) = (false, false, [])
        case .unlock: isUnlocked = true
        case .showNotification: silentMessages = 0
        case .uninstall:
            drop(.uninstalled) { _ in true }
            (token, topics, tray, isForeground, hasLostMessages, silentMessages) = (nil, [], [], false, false, 0)
        case .neglect: (isOnline, lastSeen) = (false, now - .seconds(Int64(quotas.inactiveDays) * 86_400 + 1))
        case .openMaintenanceWindow, .renewToken, .install: break
        }
        deliverWaiting(quotas, duringMaintenance: action == .openMaintenanceWindow)
    }

    /// The user taps what the system shows, which opens the app. Returns whether it was there.
    mutating func tap(_ messageID: String, _ quotas: LocalFCMQuotas, _ now: Timestamp) -> Bool {
        guard let index = tray.firstIndex(where: { $0.id == messageID }) else { return false }
        let message = tray.remove(at: index)
        act(.openApp, quotas, now)
        outcome.events.insert(.opened(received(message, quotas)), at: 0)
        return true
    }
}

/// What a device is. Messages for others than Android are recorded as delivered, and nothing more.
public enum DevicePlatform: String, Sendable, Hashable, Codable, CaseIterable {
    case android, apple, web
}
