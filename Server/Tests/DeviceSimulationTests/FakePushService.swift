import ClarionTesting
import DeviceSimulation
import Foundation

/// A push service that delivers a test's pushes, and keeps the newest one for a phone that is not connected.
actor FakePushService: SimulatedPushService {
    static let topic = "org.example.app"
    private var continuation: AsyncStream<IncomingPush>.Continuation?
    private var stored: IncomingPush?
    private var number = 0
    private(set) var registrations = 0
    private(set) var generation = 0
    /// Where a phone waits that gives back its token, while a test closes it.
    nonisolated let returns = Gate()

    var isConnected: Bool { continuation != nil }

    /// Tokens of Live Activities, by name.
    private(set) var activityTokens: [String: String] = [:]

    func register(device: String, topic: String, name: String, isNew: Bool) async throws -> String {
        guard name.isEmpty else {
            number += 1
            let token = isNew ? nil : activityTokens[name]
            activityTokens[name] = token ?? "cc\(String(format: "%04d", number))"
            return activityTokens[name] ?? ""
        }
        registrations += 1
        return generation == 0 ? "AB12" : "AB12C\(generation)"
    }

    func connect(device: String) async throws -> AsyncStream<IncomingPush> {
        let (stream, continuation) = AsyncStream.makeStream(of: IncomingPush.self)
        self.continuation?.finish()
        self.continuation = continuation
        if let stored { continuation.yield(stored) }
        stored = nil
        return stream
    }

    func unregister(device: String, topic: String, name: String) async {
        guard name.isEmpty else {
            activityTokens[name] = nil
            return
        }
        await returns.pass()
        generation += 1
    }

    /// The channels that there are, and whether the phone follows them.
    var channels: [String: Bool] = [:]

    func add(channel: String) { channels[channel] = false }

    func follow(device: String, channel: String, app: String) async throws {
        guard channels[channel] != nil else { throw CancellationError() }
        channels[channel] = true
    }

    func unfollow(device: String, channel: String, app: String) async { channels[channel] = false }

    /// A push over a channel, for those who follow it.
    func push(activity payload: String, overChannel channel: String) {
        guard channels[channel] == true else { return }
        number += 1
        continuation?.yield(
            IncomingPush(
                payload: Data(payload.utf8), pushType: "liveactivity", apnsID: "apns-\(number)", collapseID: nil,
                topic: Self.topic, channel: channel))
    }

    func disconnect(device: String) async {
        continuation?.finish()
        continuation = nil
    }

    /// A push for a Live Activity, to the token of this name.
    func push(activity payload: String, to name: String, type: String = "liveactivity", priority: Int = 10) {
        number += 1
        let push = IncomingPush(
            payload: Data(payload.utf8), pushType: type, apnsID: "apns-\(number)", collapseID: nil, topic: Self.topic,
            token: activityTokens[name] ?? "dead", priority: priority)
        if let continuation { continuation.yield(push) } else { stored = push }
    }

    func push(_ payload: String, type: String, collapseID: String? = nil, topic: String = FakePushService.topic) {
        number += 1
        let push = IncomingPush(
            payload: Data(payload.utf8), pushType: type, apnsID: "apns-\(number)", collapseID: collapseID, topic: topic)
        if let continuation { continuation.yield(push) } else { stored = push }
    }
}
