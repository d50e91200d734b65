import NIOCore
import NIOHPACK
import NIOHTTP1

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
    private static func comparable(_ authority: some StringProtocol, scheme: String) -> String {
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
