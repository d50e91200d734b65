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

    func register(device: String, topic: String) async throws -> String {
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

    func unregister(device: String, topic: String) async {
        await returns.pass()
        generation += 1
    }

    func disconnect(device: String) async {
        continuation?.finish()
        continuation = nil
    }

    func push(_ payload: String, type: String, collapseID: String? = nil, topic: String = FakePushService.topic) {
        number += 1
        let push = IncomingPush(
            payload: Data(payload.utf8), pushType: type, apnsID: "apns-\(number)", collapseID: collapseID, topic: topic)
        if let continuation { continuation.yield(push) } else { stored = push }
    }
}
