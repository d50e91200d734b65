import RichPushModel

/// A message that was accepted and is not acknowledged.
struct WaitingMessage: Sendable, Hashable {
    let id: String
    let channelID: String
    let topic: String?
    let body: [UInt8]
    let expiresAt: Timestamp
    /// With TTL 0 it goes to the connection that is there and ends with it.
    let isForNowOnly: Bool
    /// It was sent on the connection that is there now.
    var isSent = false
    /// It was sent on an earlier connection.
    var wasSentBefore = false
}

/// One browser: its subscriptions, and what waits for it (Reference/WebPush.md#6-4).
struct BrowserAccount: Sendable {
    struct Subscription: Sendable, Hashable {
        /// The sender's key that it is bound to, 65 bytes.
        var key: [UInt8]?
        /// What stands in the path of the endpoint.
        var token: String
        var version: Int { key == nil ? 1 : 2 }
    }

    var subscriptions: [String: Subscription] = [:]
    /// In the order of their arrival.
    var messages: [WaitingMessage] = []
    /// The connection that is there now.
    var connection: Int?
    /// More messages came than may wait. The user is reset at the next `hello`; what comes until then would be lost all the same.
    var isOverfull = false

    /// Takes a message in. One with a topic replaces one with the same topic that was not acknowledged.
    mutating func store(_ message: WaitingMessage, limit: Int) {
        guard !isOverfull else { return }
        if let topic = message.topic {
            messages.removeAll { $0.topic == topic && $0.channelID == message.channelID }
        }
        messages.append(message)
        isOverfull = messages.count > limit
    }

    /// Which messages leave now, in their order: all that are for now only, and a batch of the others when nothing of them is under way.
    ///
    /// - Parameter live: a message that came while the browser is there. It leaves at once if no other one waits for its batch.
    func due(batch: Int, live: String?) -> [String] {
        let urgent = messages.filter { $0.isForNowOnly && !$0.isSent }
        let stored = messages.filter { !$0.isForNowOnly }
        let unsent = stored.filter { !$0.isSent }
        let isUnderWay = unsent.count < stored.count
        guard !isUnderWay || unsent.map(\.id) == [live] else { return urgent.map(\.id) }
        // Messages with a topic come first.
        let ordered = unsent.filter { $0.topic != nil } + unsent.filter { $0.topic == nil }
        return (urgent + ordered.prefix(batch)).map(\.id)
    }

    /// Drops what has expired. What is under way stays, since its acknowledgement may be as well.
    mutating func expire(at now: Timestamp) {
        messages.removeAll { !$0.isForNowOnly && !$0.isSent && $0.expiresAt <= now }
    }

    /// The connection is gone: what it did not acknowledge waits for the next one.
    mutating func disconnect() {
        connection = nil
        messages.removeAll(where: \.isForNowOnly)
        for index in messages.indices where messages[index].isSent {
            messages[index].isSent = false
            messages[index].wasSentBefore = true
        }
    }

    /// Ends a subscription with all that waits for it. Returns whether there was one.
    mutating func unsubscribe(_ channelID: String) -> Bool {
        messages.removeAll { $0.channelID == channelID }
        return subscriptions.removeValue(forKey: channelID) != nil
    }
}
