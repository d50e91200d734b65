/// A request with its body read, outside of the lock.
struct FCMCall: Sendable {
    enum Body: Sendable {
        case grant(GrantCall)
        case send(SendCall)
        case batch(TopicBatchCall, follows: Bool)
        case subscription(follows: Bool)
        case unknown
    }

    let request: GoogleRequest
    let path: GooglePath
    let body: Body

    init(_ request: GoogleRequest) {
        self.request = request
        path = GooglePath(request.target)
        body =
            switch path.kind {
            case .token: .grant(GrantCall(request))
            case .send: .send(SendCall(request))
            case .batchAdd, .batchRemove: .batch(TopicBatchCall(request), follows: path.kind == .batchAdd)
            case .subscribe, .unsubscribe: .subscription(follows: path.kind == .subscribe)
            case .unknown: .unknown
            }
    }

    /// What is wrong with its address.
    var violations: [FCMViolation] {
        guard path.kind != .unknown else { return [FCMViolation(.path)] }
        var found: [FCMViolation] = []
        found.note(.method, if: request.method != path.method)
        found.note(.bodySize, if: request.bodySize > GoogleRequest.largestBody)
        return found
    }
}
