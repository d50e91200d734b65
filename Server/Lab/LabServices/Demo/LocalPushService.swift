import APNsEmulation
import DeviceSimulation
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The push service of simulated phones: the device side of the local APNs.
struct LocalPushService: SimulatedPushService {
    private let apns: LocalAPNs

    init(_ apns: LocalAPNs) { self.apns = apns }

    func register(device: String, topic: String) async throws -> String { apns.issueToken(device: device, topic: topic) }

    func connect(device: String) async throws -> AsyncStream<IncomingPush> {
        let pushes = apns.connect(device: device)
        return AsyncStream { continuation in
            let forwarding = Task {
                for await push in pushes { continuation.yield(IncomingPush(push)) }
                continuation.finish()
            }
            continuation.onTermination = { _ in forwarding.cancel() }
        }
    }

    func unregister(device: String, topic: String) async {
        apns.invalidate(token: apns.issueToken(device: device, topic: topic), reason: .unregistered, at: SystemClock().now)
    }

    func disconnect(device: String) async { apns.disconnect(device: device) }
}

extension IncomingPush {
    /// A push of the local APNs as a phone gets it.
    init(_ push: DeliveredPush) {
        self.init(
            payload: Data(push.payload), pushType: push.pushType?.rawValue ?? "alert",
            apnsID: push.apnsID.uuidString.lowercased(), collapseID: push.collapseID, topic: push.bundleID)
    }
}
