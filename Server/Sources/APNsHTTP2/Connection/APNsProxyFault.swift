/// Why a proxy gave no tunnel. Safe to show.
enum APNsProxyFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// 407: it wants credentials, or other ones.
    case unauthorized
    case refused(status: Int)
    /// What it answered is no HTTP/1 response, or has no end.
    case malformed
    /// It did not answer in time.
    case noAnswer
    /// It closed the connection before it answered.
    case closed
    /// The tunnel stands, and TLS cannot begin in it.
    case unusable

    var description: String {
        switch self {
        case .unauthorized: "the proxy wants other credentials (407)"
        case .refused(let status): "the proxy refused the tunnel (\(status))"
        case .malformed: "the proxy did not answer in HTTP/1"
        case .noAnswer: "the proxy did not answer in time"
        case .closed: "the proxy closed the connection"
        case .unusable: "TLS cannot begin in the proxy's tunnel; is the server's name valid?"
        }
    }
}
