import NIOCore
import NIOHPACK
import NIOHTTP1

/// Reports to the connection's guard where requests and answers begin and end, and refuses heads that break the protocol. Stands behind the
/// decoder.
///
/// A refused head is passed on as an error of the parser: the requests before it are answered, then comes one 400, and the connection
/// ends. Later bytes are ignored.
///
/// A body that breaks the protocol ends the connection too. Its request gets one answer: the handler's, or a 400 where the handler reads
/// the body. A second one would be taken for the answer to the next request by a proxy that keeps its connections.
final class RequestBoundaries: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: ConnectionGuard
    /// Whether the client broke the protocol, so that nothing more is read.
    private var isRefused = false
    /// Whether the decoder reads nothing after the request: it asks for another protocol. The server speaks HTTP/1.1 on, as it may
    /// (RFC 9110, 7.8), and the connection ends with the answer. Java's client asks so by itself.
    private var isLast = false
    /// Whether a head came and the end of its request did not.
    private var isInBody = false
    /// Requests whose answer has not begun; once the protocol was broken, the answers that may still begin.
    private var unanswered = 0
    /// Whether what is written now is an answer without a request.
    private var isSurplus = false

    init(connection: ConnectionGuard) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            guard RequestHeadCheck.accepts(&head) else { return refuse(context, HTTPParserError.unknown) }
            isInBody = true
            unanswered += 1
            isLast = Self.asksForAnotherProtocol(head)
            if isLast { head.headers.replaceOrAdd(name: "connection", value: "close") }
            connection.headEnded(expectsContinue: Self.expectsContinue(head))
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body(let bytes): connection.receivedBody(bytes.readableBytes)
        case .end:
            isInBody = false
            connection.requestEnded()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var part = unwrapOutboundIn(data)
        if case .head(var head) = part, head.status.code >= 200 {
            guard !isRefused || unanswered > 0 else { return endInsteadOfAnswer(promise) }
            unanswered -= 1
            if isRefused || isLast, unanswered == 0 {
                head.headers.replaceOrAdd(name: "connection", value: "close")
                part = .head(head)
            }
            connection.answerBegan()
        }
        guard !isSurplus else {
            promise?.succeed()
            return
        }
        context.write(wrapOutboundOut(part), promise: promise)
        if case .end = part { connection.answerEnded() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isRefused else { return }
        guard let fault = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        refuse(context, fault)
    }

    private func refuse(_ context: ChannelHandlerContext, _ fault: HTTPParserError) {
        isRefused = true
        // No request stands for a head that cannot be read; its answer is one more.
        if !isInBody { unanswered += 1 }
        connection.requestRefused(fault == .invalidEOFState ? nil : isInBody ? .body : .head)
        context.fireErrorCaught(fault)
    }

    /// The server's 400 for the body of a request whose answer has begun. The writer need not know that it does not leave.
    private func endInsteadOfAnswer(_ promise: EventLoopPromise<Void>?) {
        isSurplus = true
        connection.endSoon()
        promise?.succeed()
    }

    private static func asksForAnotherProtocol(_ head: HTTPRequestHead) -> Bool {
        head.method == .CONNECT
            || head.headers.contains(name: "upgrade")
                && head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
    }

    /// An older client cannot read an interim answer.
    private static func expectsContinue(_ head: HTTPRequestHead) -> Bool {
        guard (head.version.major, head.version.minor) >= (1, 1) else { return false }
        return head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
    }
}

/// The rules for the head of a request that the parsers below do not enforce, and on which another server in front may decide
/// differently: where a body ends, and for which host a request is meant.
enum RequestHeadCheck {
    /// Whether a head of HTTP/1 is acceptable. A target in absolute form is rewritten to the path that it names (RFC 9112, 3.2.2).
    static func accepts(_ head: inout HTTPRequestHead) -> Bool {
        hasPlainTransferEncoding(head) && namesOneHost(head) && takeAbsoluteTarget(&head)
    }

    /// Whether the fields of a request of HTTP/2 name one host: `host`, if it is there, is `:authority` (RFC 9113, 8.3.1).
    static func accepts(_ headers: HPACKHeaders) -> Bool {
        let named = headers[":authority"] + headers["host"]
        guard let first = named.first else { return true }
        let scheme = headers[":scheme"].first?.lowercased() ?? "https"
        let host = comparable(first, scheme: scheme)
        return isAuthority(first) && named.allSatisfy { comparable($0, scheme: scheme) == host }
    }

    /// The form in which authorities are compared: lower case, and without the default port of the scheme (RFC 9110, 4.2.3).
    static func comparable(_ authority: some StringProtocol, scheme: String) -> String {
        let text = authority.lowercased()
        let port = scheme == "https" ? ":443" : ":80"
        return text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
    }

    /// A body is chunked or has a length. Other codings are not taken, and in HTTP/1.0 there is none (RFC 9112, 6.1).
    private static func hasPlainTransferEncoding(_ head: HTTPRequestHead) -> Bool {
        let values = head.headers["transfer-encoding"]
        guard let first = values.first else { return true }
        return values.count == 1 && !isOlder(head) && first.lowercased() == "chunked"
            && !head.headers.contains(name: "content-length")
    }

    private static func isOlder(_ head: HTTPRequestHead) -> Bool { (head.version.major, head.version.minor) < (1, 1) }

    /// One `Host` field with a host; HTTP/1.0 may leave it out (RFC 9112, 3.2).
    private static func namesOneHost(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        guard let host = hosts.first else { return isOlder(head) }
        return hosts.count == 1 && isAuthority(host)
    }

    /// A proxy may name the whole address. It has to be an address of the host that `Host` names.
    private static func takeAbsoluteTarget(_ head: inout HTTPRequestHead) -> Bool {
        guard head.uri.first != "/", head.uri != "*", head.method != .CONNECT else { return true }
        guard let mark = head.uri.firstRange(of: "://") else { return false }
        let scheme = head.uri[..<mark.lowerBound].lowercased()
        guard ["http", "https"].contains(scheme), let host = head.headers.first(name: "host") else { return false }
        let rest = head.uri[mark.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.isEmpty, comparable(authority, scheme: scheme) == comparable(host, scheme: scheme) else { return false }
        let path = rest[authority.endIndex...]
        head.uri = path.first == "/" ? String(path) : "/" + path
        return true
    }

    /// A host with or without a port (RFC 9110, 7.2), and without a user.
    private static func isAuthority(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: ":"),
                UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: false
            }
        }
    }
}
