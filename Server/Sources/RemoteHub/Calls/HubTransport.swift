import HubProtocol

/// One request as it goes out.
struct HubRequest: Hashable, Sendable {
    var method: String
    var url: String
    var headers: HeaderList
    var body: [UInt8]
}

/// One answer as it came.
struct HubResponse: Hashable, Sendable {
    var status: Int
    var headers: HeaderList = []
    var body: [UInt8] = []
}

/// Carries requests. Throws `TransportFault` only.
protocol HubTransport: Sendable {
    /// The answer to a request, read whole within the time.
    func exchange(_ request: HubRequest, within time: Duration) async throws -> HubResponse

    /// Closes the connections.
    func shutDown() async throws
}

/// Why there is no answer.
enum TransportFault: Error, Hashable {
    /// The request was certainly not sent.
    case unreachable(String)
    /// It may have been.
    case interrupted(String)
    /// An answer came that is larger than allowed.
    case answerTooLarge
}
