import Crypto
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Signs requests with signature version 4 (Amazon S3 API reference, "Authenticating Requests"). A value without I/O.
struct S3Signer: Sendable {
    /// What is signed: everything as it goes over the wire.
    struct Message {
        var method: String
        var host: String
        /// Escaped, but for its slashes.
        var path: String
        var query: [(name: String, value: String)] = []
        /// All headers but `Host`; those that the transport adds by itself do not belong here.
        var headers: [(name: String, value: String)] = []
    }

    /// What is said of the body.
    enum Payload: Hashable {
        /// The lower-case hexadecimal SHA-256 of the body.
        case signed(String)
        /// Only TLS protects the body.
        case unsigned

        var text: String {
            switch self {
            case .signed(let hash): hash
            case .unsigned: "UNSIGNED-PAYLOAD"
            }
        }
    }

    /// No body.
    static let empty = Payload.signed(hash(of: [UInt8]()))

    /// What is said of a body that is signed.
    static func hash(of body: some DataProtocol) -> String { Hexadecimal.text(of: SHA256.hash(data: body)) }

    let credentials: S3Credentials
    let region: String

    /// All headers that the request is sent with, except those that the transport adds.
    func headers(for message: Message, payload: Payload, at moment: Timestamp) -> [(name: String, value: String)] {
        let stamp = S3Moment.stamp(moment)
        var message = message
        message.headers += [("x-amz-content-sha256", payload.text), ("x-amz-date", stamp)]
        if let token = credentials.sessionToken { message.headers.append(("x-amz-security-token", token)) }
        let (canonical, names) = canonical(message, payload: payload)
        let signature = signature(of: canonical, stamp: stamp)
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(credentials.keyID)/\(scope(stamp)), SignedHeaders=\(names), Signature=\(signature)"
        return [("Host", message.host)] + message.headers + [("Authorization", authorization)]
    }

    /// The query of a presigned URL, valid for `lifetime` (at most five minutes here, seven days by the protocol).
    func link(for message: Message, lifetime: Duration, at moment: Timestamp) -> [(name: String, value: String)] {
        let stamp = S3Moment.stamp(moment)
        var message = message
        message.query += [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", "\(credentials.keyID)/\(scope(stamp))"),
            ("X-Amz-Date", stamp), ("X-Amz-Expires", "\(max(1, lifetime.components.seconds))"),
            ("X-Amz-SignedHeaders", "host"),
        ]
        if let token = credentials.sessionToken { message.query.append(("X-Amz-Security-Token", token)) }
        let (canonical, _) = canonical(message, payload: .unsigned)
        return message.query + [("X-Amz-Signature", signature(of: canonical, stamp: stamp))]
    }

    /// The query as it is sent: escaped and in order.
    static func text(of query: [(name: String, value: String)]) -> String {
        query.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }.sorted { $0 < $1 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private func canonical(_ message: Message, payload: Payload) -> (text: String, names: String) {
        let headers = ([("host", message.host)] + message.headers).map { name, value in
            (name.lowercased(), value.split(separator: " ").joined(separator: " "))
        }.sorted { $0 < $1 }
        let names = headers.map(\.0).joined(separator: ";")
        let lines = headers.map { "\($0.0):\($0.1)\n" }.joined()
        let text = [message.method, message.path, Self.text(of: message.query), lines, names, payload.text]
        return (text.joined(separator: "\n"), names)
    }

    private func scope(_ stamp: String) -> String { "\(stamp.prefix(8))/\(region)/s3/aws4_request" }

    private func signature(of canonical: String, stamp: String) -> String {
        let hash = Hexadecimal.text(of: SHA256.hash(data: Array(canonical.utf8)))
        let text = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope(stamp))\n\(hash)"
        var key = SymmetricKey(data: Array("AWS4\(credentials.secret)".utf8))
        for word in [String(stamp.prefix(8)), region, "s3", "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(word.utf8), using: key))
        }
        return Hexadecimal.text(of: HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }
}

/// The two ways beside `HTTPDate` in which a store writes a moment.
enum S3Moment {
    /// `20130524T000000Z`, as it is signed.
    static func stamp(_ moment: Timestamp) -> String { WireTime(moment).seconds.filter { $0 != "-" && $0 != ":" } }

    /// `2013-05-24T00:00:00.000Z`, as in documents, to the second.
    static func read(document text: String) -> Timestamp? {
        guard text.hasSuffix("Z"), text.utf8.count >= 20, let time = WireTime(text) else { return nil }
        return Timestamp(seconds: time.moment.seconds)
    }
}

/// The credentials for an S3-compatible store. Printing it shows the key's id and nothing else.
public struct S3Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The id of the key, which is no secret.
    public let keyID: String
    let secret: String
    let sessionToken: String?

    /// Creates credentials; a session token belongs to a key that was lent for a time.
    public init(keyID: String, secret: String, sessionToken: String? = nil) {
        self.keyID = keyID
        self.secret = secret
        self.sessionToken = sessionToken
    }

    public var description: String { "key \(keyID)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}
