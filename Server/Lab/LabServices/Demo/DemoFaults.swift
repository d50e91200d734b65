import APNsEmulation
import RichPushDevice
import RichPushModel
import SimulatedPhonePage
import Synchronization

/// What goes wrong for the phones of a demo, by the id of the phone.
final class DemoFaults: Sendable {
    private let state = Mutex<[String: PhoneFaults]>([:])

    subscript(phone: String) -> PhoneFaults { state.withLock { $0[phone] ?? PhoneFaults() } }

    /// Sets the faults of a phone, and gives the local APNs those of all phones anew: it cannot take one back alone.
    func set(_ faults: PhoneFaults, of phone: String, at apns: LocalAPNs, topic: String) {
        state.withLock { $0[phone] = faults }
        strike(at: apns, topic: topic)
    }

    /// For device tokens that may have changed.
    func strike(at apns: LocalAPNs, topic: String) {
        let all = state.withLock { $0 }
        apns.clearFaults()
        for (device, faults) in all.sorted(by: { $0.key < $1.key }) {
            guard let fault = faults.apns.injected else { continue }
            apns.inject(fault, everyRequests: 1, token: apns.issueToken(device: device, topic: topic))
        }
    }
}

extension PhoneFaults.APNs {
    /// What the local APNs is told; `nil` when nothing goes wrong.
    var injected: InjectedFault? {
        switch self {
        case .none: nil
        case .delay: .delay(.seconds(3))
        case .tooManyRequests: .status(429, .tooManyRequests)
        case .unavailable: .status(503, .serviceUnavailable)
        case .drop: .closeConnection(processed: false)
        }
    }
}
