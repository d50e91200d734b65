import Crypto
import RichPushModel
import SharedAccess
import WireText

/// How a push service treats a message (Reference/WebPush.md#2-1).
public struct WebPushHeaders: Hashable, Sendable {
    /// The most that a push service keeps a message, in seconds: four weeks at Google's.
    public static let longestLife: Int64 = 28 * 24 * 3600

    /// For how many seconds the push service keeps the message for a browser that is not there; 0 delivers now or never.
    public var life: Int64
    /// `very-low`, `low`, `normal` or `high`.
    public var urgency: String
    /// A later message with the same topic takes the place of one that was not delivered.
    public var topic: String?

    /// Translates what a send says in the terms of APNs.
    ///
    /// - Parameters:
    ///   - expiresAt: in seconds since 1970; 0 for one try, absent for as long as the service keeps it.
    ///   - priority: 10, 5 or 1.
    public init(expiresAt: Int64?, priority: Int, collapseID: String?, now: Timestamp) {
        life =
            switch expiresAt {
            case nil: Self.longestLife
            case 0: 0
            case let moment?: min(max(moment - now.seconds, 0), Self.longestLife)
            }
        urgency = priority >= 10 ? "high" : priority >= 5 ? "normal" : "low"
        topic = collapseID.map(Self.topic)
    }

    /// The text itself where it is a topic, else a digest of it: 32 letters of the URL-safe alphabet at most.
    private static func topic(_ text: String) -> String {
        let isTopic = (1...32).contains(text.utf8.count) && text.utf8.allSatisfy(isLetter)
        return isTopic ? text : Base64URL.text(of: Array(SHA256.hash(data: Array(text.utf8)).prefix(24)))
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// One message on its way to a push service: a POST (Reference/WebPush.md#2-1).
public struct WebPushRequest: Sendable {
    public let address: OutboundAddress
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    /// Encrypts a message for a browser. Throws an error of the library.
    public init(
        _ message: [UInt8], to subscription: WebPushSubscription, headers: WebPushHeaders, authorization: String
    ) throws {
        address = subscription.endpoint
        body = try WebPushEncryption.body(of: message, for: subscription)
        self.headers =
            [
                ("authorization", authorization), ("ttl", "\(headers.life)"), ("urgency", headers.urgency),
                ("content-encoding", "aes128gcm"), ("content-type", "application/octet-stream"),
            ] + (headers.topic.map { [("topic", $0)] } ?? [])
    }
}

extension WebPushRequest: CustomStringConvertible, CustomReflectable {
    /// The push service alone. The path belongs to one browser, and a header is a secret.
    public var description: String { "a push to \(address.host)" }
    public var customMirror: Mirror { Mirror(self, children: ["host": address.host]) }
}

/// What a push service answered.
public struct WebPushAnswer: Hashable, Sendable {
    /// What follows from it (Reference/WebPush.md#2-2).
    public enum Disposition: Hashable, Sendable {
        case accepted
        /// The browser has unsubscribed, or its push service has.
        case gone
        case tooLarge
        /// The push service does not know who asks, or that key may not send to this browser.
        case unauthorized
        /// Wrong in itself: trying again changes nothing.
        case refused
        /// Not now.
        case later
    }

    public var status: Int
    /// What the service asks to wait.
    public var pause: Duration?

    /// Takes an answer. `retryAfter` is the header as it came: seconds, or a date of HTTP.
    public init(status: Int, retryAfter: String? = nil, now: Timestamp) {
        self.status = status
        pause = retryAfter.flatMap { RetryAfter.pause($0, at: now) }
    }

    public var disposition: Disposition {
        switch status {
        // 201 by RFC 8030; services have answered others, for pushes that they had taken.
        case 200..<300: .accepted
        case 404, 410: .gone
        case 401, 403: .unauthorized
        case 413: .tooLarge
        case 408, 425, 429, 500...: .later
        default: .refused
        }
    }
}
