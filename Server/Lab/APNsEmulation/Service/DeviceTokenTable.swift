import RichPushModel

/// The device tokens of one environment. Tokens are compared in lower case.
struct DeviceTokenTable: Sendable {
    struct Entry: Sendable {
        let device: String
        let topic: String
        /// What is true; what is answered may lag behind.
        var life = RequestEvidence.Target.Life.alive
        var counts = LocalAPNs.RequestCounts()
        /// The accepted pushes in the present rate window.
        var window = RateWindow()
        /// When a dead token begins to be answered as dead; until then pushes to it are accepted and lost.
        var toldAt: Duration?

        /// What a push at this moment is told.
        func apparentLife(at uptime: Duration) -> RequestEvidence.Target.Life {
            if let toldAt, uptime < toldAt { return .alive }
            return life
        }
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

    /// The token is dead since `moment`, and answered so from the uptime `toldAt` on. Returns whether there is such a token.
    @discardableResult
    mutating func invalidate(
        _ token: String, reason: LocalAPNs.DeadTokenReason, at moment: Timestamp, toldAt: Duration? = nil
    ) -> Bool {
        let token = token.lowercased()
        guard let entry = entries[token] else { return false }
        entries[token]?.toldAt = toldAt
        entries[token]?.life = reason == .expired ? .expired(since: moment) : .unregistered(since: moment)
        let registration = Registration(device: entry.device, topic: entry.topic)
        if living[registration] == token { living[registration] = nil }
        return true
    }

    /// Every token that was ever issued.
    var tokens: [String: Entry] { entries }

    /// Takes in a token of an earlier run that was dead already.
    mutating func restoreDead(_ token: String, device: String, topic: String, life: RequestEvidence.Target.Life) {
        entries[token] = Entry(device: device, topic: topic, life: life)
    }

    func counts(of token: String) -> LocalAPNs.RequestCounts { entries[token.lowercased()]?.counts ?? .init() }

    mutating func countRequest(_ token: String) { entries[token]?.counts.requests += 1 }

    mutating func countAccepted(_ token: String, rate: EmulationRules.DeviceRate?, uptime: Duration) {
        guard let index = entries.index(forKey: token) else { return }
        entries.values[index].counts.accepted += 1
        if let rate { entries.values[index].window.add(seconds: rate.seconds, uptime: uptime) }
    }
}
