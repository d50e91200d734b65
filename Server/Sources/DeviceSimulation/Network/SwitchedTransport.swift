import RichPushDevice
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The phone's radio: while it is off nothing is sent.
final class NetworkSwitch: Sendable {
    private let state = Mutex(true)

    var isOn: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// A transport behind the phone's radio.
struct SwitchedTransport: HTTPTransport {
    let network: NetworkSwitch
    let transport: any HTTPTransport

    func send(
        _ request: TransportRequest, maximumBytes: Int, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        guard network.isOn else { throw .unreachable }
        let response = try await transport.send(request, maximumBytes: maximumBytes, deadline: deadline)
        // An answer that comes after the radio went off does not arrive.
        guard network.isOn else { throw .unreachable }
        return response
    }

    func download(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        guard network.isOn else { throw .unreachable }
        let response = try await transport.download(request, to: file, maximumBytes: maximumBytes, deadline: deadline)
        guard network.isOn else { throw .unreachable }
        return response
    }
}
