import RichPushModel

/// The device tokens of one environment. Tokens are compared in lower case.
struct DeviceTokenTable: Sendable {
    struct Entry: Sendable {
        let device: String
        let topic: String
        var life = RequestEvidence.Target.Life.alive
        var counts = LocalAPNs.RequestCounts()
        /// The rate window and the accepted pushes in it.
        var windowStart: Duration?
        var windowCount = 0
    }

    private struct Registration: Hashable {
        var device: String
        var topic: String
    }

    private var entries: [String: Entry] = [:]
    private var living: [Registration: String] = [:]

    subscript(token: String) -> Entry? { entries[token] }

    /// The living token of a device and topic, made if there is none.
    mutating func issue(device: String, topic: String, random: inout RandomSource) -> String {
        let registration = Registration(device: device, topic: topic)
        if let token = living[registration] { return token }
        let token = random.deviceToken()
        living[registration] = token
        entries[token] = Entry(device: device, topic: topic)
        return token
    }

    /// Takes in a token made elsewhere.
    mutating func register(_ token: String, device: String, topic: String) throws {
        let token = token.lowercased()
        guard APNsText.isDeviceToken(token) else { throw LocalAPNsError.badDeviceToken }
        if let entry = entries[token] {
            guard entry.device == device, entry.topic == topic else { throw LocalAPNsError.deviceTokenTaken }
            return
        }
        living[Registration(device: device, topic: topic)] = token
        entries[token] = Entry(device: device, topic: topic)
    }

    /// The living token of a device and topic dies.
    mutating func retire(device: String, topic: String, at moment: Timestamp) {
        guard let token = living[Registration(device: device, topic: topic)] else { return }
        invalidate(token, reason: .unregistered, at: moment)
    }

    mutating func invalidate(_ token: String, reason: LocalAPNs.DeadTokenReason, at moment: Timestamp) {
        let token = token.lowercased()
        guard let entry = entries[token] else { return }
        entries[token]?.life = reason == .expired ? .expired(since: moment) : .unregistered(since: moment)
        let registration = Registration(device: entry.device, topic: entry.topic)
        if living[registration] == token { living[registration] = nil }
    }

    func counts(of token: String) -> LocalAPNs.RequestCounts { entries[token.lowercased()]?.counts ?? .init() }

    /// Accepted pushes to a token in the present window of `seconds`.
    func recentPushes(_ entry: Entry, seconds: Int, uptime: Duration) -> Int {
        guard let start = entry.windowStart, uptime - start < .seconds(seconds) else { return 0 }
        return entry.windowCount
    }

    mutating func countRequest(_ token: String) { entries[token]?.counts.requests += 1 }

    mutating func countAccepted(_ token: String, rate: EmulationRules.DeviceRate?, uptime: Duration) {
        guard let index = entries.index(forKey: token) else { return }
        entries.values[index].counts.accepted += 1
        guard let rate else { return }
        if let start = entries.values[index].windowStart, uptime - start < .seconds(rate.seconds) {
            entries.values[index].windowCount += 1
        } else {
            entries.values[index].windowStart = uptime
            entries.values[index].windowCount = 1
        }
    }
}
