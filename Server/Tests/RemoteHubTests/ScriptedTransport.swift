import ClarionTesting
import Logging
import NIOConcurrencyHelpers
import SharedAccess
import Testing

@testable import HubProtocol
@testable import RemoteHub

/// Answers from a list, and remembers what it was asked.
final class ScriptedTransport: HubTransport {
    enum Line {
        case answer(HubResponse)
        case fault(TransportFault)
    }

    private let state: NIOLockedValueBox<(lines: [Line], asked: [HubRequest], times: [Duration])>

    init(_ lines: [Line]) { state = NIOLockedValueBox((lines, [], [])) }

    var asked: [HubRequest] { state.withLockedValue { $0.asked } }
    /// How long each attempt might take.
    var times: [Duration] { state.withLockedValue { $0.times } }
    var rest: Int { state.withLockedValue { $0.lines.count } }

    func exchange(_ request: HubRequest, within time: Duration) async throws -> HubResponse {
        let line = state.withLockedValue { state in
            state.asked.append(request)
            state.times.append(time)
            return state.lines.isEmpty ? Line.fault(.unreachable("the script is over")) : state.lines.removeFirst()
        }
        switch line {
        case .answer(let answer): return answer
        case .fault(let fault): throw fault
        }
    }

    func shutDown() async throws {}
}

extension ScriptedTransport.Line {
    static func status(_ status: Int, _ headers: [HeaderField] = [], _ body: String = "") -> Self {
        .answer(HubResponse(status: status, headers: HeaderList(headers), body: Array(body.utf8)))
    }

    /// The answer to a send.
    static let queued = status(
        201,
        [
            HeaderField(
                "Location", "https://push.example.test/demo/messages/0c5d2a1e-9b7f-4c3d-8e6a-5b4c3d2e1f00?api-version=2020-06")
        ])
}

/// A hub whose other end is a script.
struct ScriptedRemote {
    static let queuedID = "0c5d2a1e-9b7f-4c3d-8e6a-5b4c3d2e1f00"

    let hub: RemoteHub
    let transport: ScriptedTransport
    let clock = ManualClock()

    init(_ lines: ScriptedTransport.Line..., options: RemoteHubOptions = RemoteHubOptions(firstPause: .zero)) throws {
        transport = ScriptedTransport(lines)
        let connection = try ConnectionString(
            "Endpoint=sb://Push.example.test:8443/;SharedAccessKeyName=full;SharedAccessKey=c2VjcmV0LWtleS1mb3ItZXhhbXBsZXMtMDEyMzQ1Njc4OTA="
        )
        hub = try RemoteHub(
            connection, hub: "demo", options: options, clock: clock, transport: transport,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    var request: HubRequest {
        get throws { try #require(transport.asked.first) }
    }

    /// The headers of a request but those that every request has.
    func ownHeaders(_ request: HubRequest) -> [HeaderField] {
        let common: Set<String> = ["authorization", "x-ms-version", "x-ms-client-request-id", "user-agent"]
        return request.headers.fields.filter { !common.contains($0.name.lowercased()) }
    }

    /// The error that work throws.
    func failure(_ work: (RemoteHub) async throws -> Void) async throws -> RemoteHubError {
        do { try await work(hub) } catch let error as RemoteHubError { return error }
        throw NoFailure()
    }

    struct NoFailure: Error {}
}
