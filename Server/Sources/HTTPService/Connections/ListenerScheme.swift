import Hummingbird
import HummingbirdCore
import NIOCore

/// How requests reach a listener. What a client says of the scheme counts for nothing.
enum ListenerScheme: String {
    case http
    case https

    /// The responder, told the true scheme of every request.
    func marking(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTPChannelHandler.Responder {
        { (request: Request, writer: consuming ResponseWriter, channel: any Channel) async throws in
            var head = request.head
            head.scheme = rawValue
            try await responder(Request(head: head, body: request.body), writer, channel)
        }
    }
}

extension Request {
    /// Whether the request came over TLS that ends in this process. A proxy in front may have ended another.
    public var cameOverTLS: Bool { head.scheme == ListenerScheme.https.rawValue }
}
