import WireText

/// A request of a sender, as it arrived.
struct SenderRequest: Sendable {
    var method: String
    /// Without a query.
    var path: String
    var headers: [(name: String, value: String)]
    /// What was read of the body: nothing of one that is too long.
    var body: [UInt8]
    /// How long the body is.
    var bodySize: Int

    /// - Parameter bodySize: `nil` for a body that was read whole.
    init(
        method: String = "POST", path: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        bodySize: Int? = nil
    ) {
        (self.method, self.headers, self.body) = (method, headers, body)
        self.path = String(path.prefix { $0 != "?" })
        self.bodySize = bodySize ?? body.count
    }

    /// The value of a header, in any case. A header that came twice is one list (RFC 9110, section 5.3), so it breaks each rule about
    /// single values.
    func header(_ name: String) -> String? {
        let values = headers.filter { $0.name.lowercased() == name }.map(\.value.trimmingBlanks)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// What a path of a sender names (Reference/WebPush.md#6-5).
enum SenderPath: Sendable, Hashable {
    /// An endpoint; the version is 1 without a key and 2 with one.
    case endpoint(version: Int, token: String)
    /// A message that may be cancelled.
    case message(String)
    case health
    /// Where the fault `redirect` points to.
    case redirected
    case unknown

    init(_ path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch parts.count {
        case 3 where parts[0] == "wpush" && parts[1] == "v1": self = .endpoint(version: 1, token: parts[2])
        case 3 where parts[0] == "wpush" && parts[1] == "v2": self = .endpoint(version: 2, token: parts[2])
        case 2 where parts[0] == "m": self = .message(parts[1])
        case 1 where ["status", "__heartbeat__", "__lbheartbeat__"].contains(parts[0]): self = .health
        case 1 where parts[0] == Self.redirectTarget: self = .redirected
        default: self = .unknown
        }
    }

    static let redirectTarget = "redirected"

    /// The kind of the path alone. The token of an endpoint lets its holder send, so it is not shown.
    var kind: String {
        switch self {
        case .endpoint(let version, _): "endpoint v\(version)"
        case .message: "message"
        case .health: "health"
        case .redirected: "redirected"
        case .unknown: "unknown"
        }
    }
}
