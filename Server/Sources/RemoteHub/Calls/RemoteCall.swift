import HubProtocol

/// One operation as the client asks for it, before signature, version and id are added.
struct RemoteCall: Sendable {
    var method: String
    /// Behind the hub's name.
    var path: [String]
    var query: [HeaderField] = []
    var headers: [HeaderField] = []
    var body: [UInt8] = []
    /// The statuses of success; others are errors. 404 stands here where it is an answer.
    var expected: Set<Int>
    /// The name under which repetitions are known; absent means a new one for this call.
    var requestID: String?
}
