import Crypto
import RichPushModel
import WireText

/// All that a local push service knows. It does no I/O: time comes in, and instructions to connections go out.
struct PushServiceState: Sendable {
    /// What is known of a connection of a browser.
    struct Connection: Sendable {
        /// Absent before `hello`.
        var uaid: String?
        var lastPing: Timestamp?
    }

    let bounds: LocalWebPushBounds
    /// Scheme, host and port of the endpoints.
    var origin: String
    /// Seals the tokens of endpoints. A secret.
    var tokenKey: SymmetricKey
    var users: [String: BrowserAccount] = [:]
    var connections: [Int: Connection] = [:]
    var faults = SenderFaultPlan()
    var recorder: PushRecorder
    var random: any RandomNumberGenerator & Sendable
    var usedKeys = UsedKeys()
    /// Grows with every change of what is kept.
    var keptRevision = 0
    private var lastConnection = 0

    init(origin: String, bounds: LocalWebPushBounds, random: any RandomNumberGenerator & Sendable) {
        (self.origin, self.bounds, self.random) = (origin, bounds, random)
        recorder = PushRecorder(capacity: bounds.recorded)
        // In place of the right key until the generator is there.
        tokenKey = SymmetricKey(data: [UInt8](repeating: 0, count: 32))
        tokenKey = SymmetricKey(data: randomBytes(32))
    }

    mutating func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
    }

    // MARK: Connections

    /// A browser has connected. Returns its number, from 1.
    mutating func open() -> Int {
        lastConnection += 1
        connections[lastConnection] = Connection()
        return lastConnection
    }

    /// A connection is gone.
    mutating func closed(_ connection: Int) {
        guard let uaid = connections.removeValue(forKey: connection)?.uaid, users[uaid]?.connection == connection else { return }
        users[uaid]?.disconnect()
        // As Mozilla's service does: who never subscribed is not kept.
        if users[uaid]?.subscriptions.isEmpty == true { users[uaid] = nil }
    }

    /// The time until `hello` is over (Reference/WebPush.md#6-3).
    mutating func helloIsDue(_ connection: Int) -> [BrowserInstruction] {
        guard let known = connections[connection], known.uaid == nil else { return [] }
        return close(connection, .noHello)
    }

    /// A text frame has come.
    mutating func receive(_ text: String, on connection: Int, now: Timestamp) -> [BrowserInstruction] {
        guard connections[connection] != nil else { return [] }
        guard let message = BrowserMessage(text) else { return close(connection, .badMessage) }
        guard let uaid = connections[connection]?.uaid else {
            guard case .hello(let uaid) = message else { return close(connection, .badMessage) }
            return hello(uaid, on: connection, now: now)
        }
        // The user was reset while the message travelled.
        guard users[uaid] != nil else { return [] }
        switch message {
        case .hello: return close(connection, .secondHello)
        case .register(let channelID, let key): return register(channelID, key: key, of: uaid, on: connection)
        case .unregister(let channelID, let code):
            unsubscribe(channelID, of: uaid, code: code, now: now)
            return [send(ServiceText.unregistered(channelID: channelID), connection)]
        case .broadcastSubscribe: return [send(ServiceText.broadcasts, connection)]
        case .ack(let updates): return acknowledge(updates, of: uaid, on: connection, now: now)
        case .nack(let version, let code):
            // The message stays until it is acknowledged: `nack` is a report.
            recorder.record(BrowserReport(kind: .failed, uaid: uaid, receivedAt: now, messageID: version, code: code))
            return []
        case .ping: return ping(on: connection, now: now)
        }
    }

    /// Forgets a connection and asks to end it. What comes on it from here is not heard.
    mutating func close(_ connection: Int, _ reason: BrowserClose) -> [BrowserInstruction] {
        guard connections[connection] != nil else { return [] }
        closed(connection)
        return [BrowserInstruction(connection: connection, action: .close(reason))]
    }

    func send(_ text: String, _ connection: Int) -> BrowserInstruction {
        BrowserInstruction(connection: connection, action: .send(text))
    }

    // MARK: What browsers ask for (Reference/WebPush.md#6-1)

    private mutating func hello(_ named: String?, on connection: Int, now: Timestamp) -> [BrowserInstruction] {
        var instructions: [BrowserInstruction] = []
        var uaid = named.flatMap { PushText.isUserID($0) && users[$0] != nil ? $0 : nil }
        if let known = uaid {
            users[known]?.expire(at: now)
            if let other = users[known]?.connection { instructions += close(other, .displaced) }
            // The end of the other connection may have removed a user without subscriptions.
            if users[known] == nil { users[known] = BrowserAccount() }
            if users[known]?.isOverfull == true {
                users[known] = nil
                keptRevision += 1
                uaid = nil
            }
        }
        if uaid == nil, users.count >= bounds.users { return instructions + close(connection, .tooManyUsers) }
        let present = uaid ?? Hexadecimal.text(of: randomBytes(16))
        users[present, default: BrowserAccount()].connection = connection
        connections[connection]?.uaid = present
        return instructions + [send(ServiceText.hello(uaid: present), connection)] + deliver(to: present, now: now)
    }

    private mutating func register(
        _ channelID: String, key text: String?, of uaid: String, on connection: Int
    ) -> [BrowserInstruction] {
        func answer(_ status: Int, _ endpoint: String? = nil) -> [BrowserInstruction] {
            [send(ServiceText.registered(channelID: channelID, status: status, endpoint: endpoint), connection)]
        }
        // Firefox writes the padding.
        let key = text.flatMap { Base64URL.bytes(of: $0.prefix { $0 != "=" }) }
        if text != nil, key.flatMap({ try? P256.Signing.PublicKey(x963Representation: $0) }) == nil || key?.count != 65 {
            return answer(400)
        }
        if let known = users[uaid]?.subscriptions[channelID] {
            return known.key == key ? answer(200, endpoint(of: known)) : answer(409)
        }
        guard (users[uaid]?.subscriptions.count ?? 0) < bounds.subscriptions else { return answer(500) }
        let token = EndpointToken(uaid: uaid, channelID: channelID, key: key)
        guard let sealed = token.text(sealedWith: tokenKey, nonce: randomBytes(12)) else { return answer(500) }
        let subscription = BrowserAccount.Subscription(key: key, token: sealed)
        users[uaid]?.subscriptions[channelID] = subscription
        keptRevision += 1
        return answer(200, endpoint(of: subscription))
    }

    func endpoint(of subscription: BrowserAccount.Subscription) -> String {
        "\(origin)/wpush/v\(subscription.version)/\(subscription.token)"
    }

    mutating func unsubscribe(_ channelID: String, of uaid: String, code: Int, now: Timestamp) {
        guard users[uaid]?.unsubscribe(channelID) == true else { return }
        keptRevision += 1
        recorder.record(
            BrowserReport(kind: .unsubscribed, uaid: uaid, receivedAt: now, channelID: channelID, code: code))
    }

    private mutating func acknowledge(
        _ updates: [BrowserMessage.Acknowledgement], of uaid: String, on connection: Int, now: Timestamp
    ) -> [BrowserInstruction] {
        for update in updates {
            let isKnown: (WaitingMessage) -> Bool = { $0.id == update.version && $0.channelID == update.channelID && $0.isSent }
            // What was replaced, cancelled or acknowledged before is no error.
            guard let index = users[uaid]?.messages.firstIndex(where: isKnown) else { continue }
            users[uaid]?.messages.remove(at: index)
            keptRevision += 1
            recorder.record(
                BrowserReport(
                    kind: .acknowledged, uaid: uaid, receivedAt: now, messageID: update.version, channelID: update.channelID,
                    code: update.code))
        }
        return deliver(to: uaid, now: now)
    }

    /// Less than 45 s after the last one is too often (Reference/WebPush.md#6-3).
    private mutating func ping(on connection: Int, now: Timestamp) -> [BrowserInstruction] {
        if let last = connections[connection]?.lastPing, now - last < .seconds(45) { return close(connection, .pingsTooOften) }
        connections[connection]?.lastPing = now
        return [send(ServiceText.ping, connection)]
    }

    /// Sends what is due to a browser that is connected.
    mutating func deliver(to uaid: String, now: Timestamp, live: String? = nil) -> [BrowserInstruction] {
        guard let connection = users[uaid]?.connection else { return [] }
        users[uaid]?.expire(at: now)
        let due = users[uaid]?.due(batch: bounds.batch, live: live) ?? []
        if !due.isEmpty { keptRevision += 1 }
        return due.compactMap { id in
            guard let index = users[uaid]?.messages.firstIndex(where: { $0.id == id }) else { return nil }
            users[uaid]?.messages[index].isSent = true
            guard let message = users[uaid]?.messages[index] else { return nil }
            recorder.record(
                BrowserDelivery(
                    messageID: id, channelID: message.channelID, uaid: uaid, connection: connection, sentAt: now,
                    isRepeat: message.wasSentBefore))
            return send(ServiceText.notification(message), connection)
        }
    }
}
