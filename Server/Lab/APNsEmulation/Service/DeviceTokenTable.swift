import RichPushModel

/// How often a device token was addressed.
public struct RequestCounts: Sendable, Hashable {
    /// Requests with this token in their path, whatever the answer.
    public var requests = 0
    /// Those accepted.
    public var accepted = 0
}

/// Why a device token is dead.
public enum DeadTokenReason: Sendable, Hashable {
    /// 410 `Unregistered`.
    case unregistered
    /// 410 `ExpiredToken`.
    case expired
}

/// The device tokens of one environment. Tokens are compared in lower case.
struct DeviceTokenTable: Sendable {
    struct Entry: Sendable {
        let device: String
        let topic: String
        /// What is true; what is answered may lag behind.
        var life = RequestEvidence.Target.Life.alive
        var counts = RequestCounts()
        /// The accepted pushes in the present rate window.
        var window = RateWindow()
        /// The uptime from which a dead token is answered as dead; until then pushes to it are accepted and lost.
        var reportedFrom: Duration?

        /// The state that the answer to a push at this uptime reports.
        func apparentLife(at uptime: Duration) -> RequestEvidence.Target.Life {
            if let reportedFrom, uptime < reportedFrom { return .alive }
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

    /// Marks the token as dead since `moment`, reported from the uptime `reportedFrom` on. Returns whether the token exists.
    @discardableResult
    mutating func invalidate(
        _ token: String, reason: DeadTokenReason, at moment: Timestamp, reportedFrom: Duration? = nil
    ) -> Bool {
        let token = token.lowercased()
        guard let entry = entries[token] else { return false }
        entries[token]?.reportedFrom = reportedFrom
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

    func counts(of token: String) -> RequestCounts { entries[token.lowercased()]?.counts ?? .init() }

    mutating func countRequest(_ token: String) { entries[token]?.counts.requests += 1 }

    mutating func countAccepted(_ token: String, rate: EmulationRules.DeviceRate?, uptime: Duration) {
        guard let index = entries.index(forKey: token) else { return }
        entries.values[index].counts.accepted += 1
        if let rate { entries.values[index].window.add(seconds: rate.seconds, uptime: uptime) }
    }
}
