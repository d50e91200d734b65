import RichPushDevice
import RichPushModel
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The phone's radio. What it says lies in a file too, because the app and the extension may be processes of their own.
final class NetworkSwitch: Sendable {
    private let file: URL
    private let state: Mutex<PhoneSnapshot.Network>

    /// The switch as the phone holds it, on at the start.
    init(folder: URL) {
        file = folder.appendingPathComponent("network")
        state = Mutex(.online)
        try? FileManager.default.removeItem(at: file)
    }

    var connection: PhoneSnapshot.Network {
        get { state.withLock { $0 } }
        set {
            state.withLock { $0 = newValue }
            try? Data(newValue.rawValue.utf8).write(to: file, options: .atomic)
        }
    }

    /// As another process of the phone reads it.
    static func read(folder: URL) -> PhoneSnapshot.Network {
        let text = try? String(contentsOf: folder.appendingPathComponent("network"), encoding: .utf8)
        return text.flatMap(PhoneSnapshot.Network.init) ?? .online
    }

    var isOn: Bool { connection != .offline }
}

/// A transport behind the phone's radio: off, nothing is sent; slow, every answer comes late.
struct SwitchedTransport: HTTPTransport {
    let connection: @Sendable () -> PhoneSnapshot.Network
    /// How late an answer is while the network is slow.
    let delay: Duration
    let transport: any HTTPTransport
    let clock: any ServiceClock

    func send(
        _ request: TransportRequest, maximumBytes: Int, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        let rest = try await begin(deadline)
        let response = try await transport.send(request, maximumBytes: maximumBytes, deadline: rest)
        // An answer that comes after the radio went off does not arrive.
        guard connection() != .offline else { throw .unreachable }
        return response
    }

    func download(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        let rest = try await begin(deadline)
        let response = try await transport.download(request, to: file, maximumBytes: maximumBytes, deadline: rest)
        guard connection() != .offline else { throw .unreachable }
        return response
    }

    /// What is left of the deadline when the request is on its way.
    private func begin(_ deadline: Duration) async throws(TransportError) -> Duration {
        switch connection() {
        case .online: return deadline
        case .offline: throw .unreachable
        case .slow:
            let wait = min(delay, deadline)
            do { try await clock.sleep(for: wait) } catch { throw .cancelled }
            guard connection() != .offline else { throw .unreachable }
            guard wait < deadline else { throw .timedOut }
            return deadline - wait
        }
    }
}
