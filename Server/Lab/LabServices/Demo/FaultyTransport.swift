import RichPushDevice
import RichPushModel
import SimulatedPhonePage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A phone's way to the app backend, on which the faults of a demo strike what it fetches. Everything else passes, unless the
/// phone is to be told that it is not signed in.
struct FaultyTransport: HTTPTransport {
    private static let slowness: Duration = .seconds(4)
    private static let markup = Data("<!doctype html><title>Not a picture</title>".utf8)

    let phone: String
    let faults: DemoFaults
    let transport: any HTTPTransport
    let clock: any ServiceClock

    func send(
        _ request: TransportRequest, maximumBytes: Int, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        if faults[phone].backend == .unauthorized { return Self.unauthorized }
        return try await transport.send(request, maximumBytes: maximumBytes, deadline: deadline)
    }

    func download(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        let fault = faults[phone].backend
        switch fault {
        case .unauthorized: return Self.unauthorized
        case .gone: return Self.refusal(404, "Not found", "not-found")
        case .failing: return Self.refusal(503, "Not ready", "not-ready")
        case .oversized: throw .tooLarge
        case .slow:
            guard deadline > Self.slowness else { return try await late(deadline) }
            do { try await clock.sleep(for: Self.slowness) } catch { throw .cancelled }
            return try await transport.download(
                request, to: file, maximumBytes: maximumBytes, deadline: deadline - Self.slowness)
        case .none, .damaged, .disguised:
            let answer = try await transport.download(request, to: file, maximumBytes: maximumBytes, deadline: deadline)
            if answer.status == 200, fault != .none { try spoil(file, fault) }
            return answer
        }
    }

    private func late(_ deadline: Duration) async throws(TransportError) -> TransportResponse {
        do { try await clock.sleep(for: deadline) } catch { throw .cancelled }
        throw .timedOut
    }

    /// Changes the bytes on their way, at the same length.
    private func spoil(_ file: URL, _ fault: PhoneFaults.Backend) throws(TransportError) {
        do {
            var bytes = try Data(contentsOf: file)
            guard let last = bytes.indices.last else { return }
            if fault == .damaged {
                bytes[last] ^= 0xFF
            } else {
                let size = min(bytes.count, Self.markup.count)
                bytes.replaceSubrange(bytes.startIndex..<bytes.startIndex + size, with: Self.markup.prefix(size))
            }
            try bytes.write(to: file)
        } catch {
            throw .fileNotWritable
        }
    }

    private static var unauthorized: TransportResponse { refusal(401, "Not signed in", "unauthenticated") }

    private static func refusal(_ status: Int, _ title: String, _ code: String) -> TransportResponse {
        let problem = Problem(
            type: "about:blank", title: title, status: status, detail: "switched on beside the phone", code: code)
        return TransportResponse(
            status: status, headers: ["content-type": "application/problem+json"],
            body: (try? JSONEncoder().encode(problem)) ?? Data())
    }
}
