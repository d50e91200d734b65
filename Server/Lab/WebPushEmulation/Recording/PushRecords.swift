import RichPushModel
import ServiceEmulation

/// A request of a sender with its answer. It holds no body, no token of an endpoint and no VAPID token.
public struct SenderExchange: Sendable, Hashable, Codable {
    public var receivedAt: Timestamp
    public var method: String
    /// The kind of the path: `endpoint v2`, `message`.
    public var path: String
    /// The subscription that the endpoint belongs to, where there is one.
    public var channelID: String?
    /// `TTL`, `Urgency`, `Topic` and `Content-Encoding` as they came, by their names in lower case.
    public var headers: [String: String]
    public var bodySize: Int
    /// What was answered; absent when the connection ended instead.
    public var status: Int?
    /// The rule that the request broke.
    public var brokenRule: SenderRule?
    /// The fault that struck it.
    public var fault: SenderFault?
    /// The id of the message that it made.
    public var messageID: String?
}

extension SenderExchange: CustomStringConvertible {
    public var description: String {
        let reason = brokenRule.map { " \($0.rawValue)" } ?? fault.map { " by \($0)" } ?? ""
        return "\(method) \(path), \(bodySize) bytes: \(status.map { "\($0)" } ?? "no answer")\(reason)"
    }
}

/// A message on its way to a browser, once for each time that it was sent.
public struct BrowserDelivery: Sendable, Hashable, Codable {
    public var messageID: String
    public var channelID: String
    public var uaid: String
    /// The number of the connection, from 1.
    public var connection: Int
    public var sentAt: Timestamp
    /// It was sent before, and not acknowledged.
    public var isRepeat: Bool
    /// The code of the acknowledgement (Reference/WebPush.md#6-1); absent until it comes.
    public var acknowledgement: Int?
}

extension BrowserDelivery: CustomStringConvertible {
    public var description: String {
        "message \(messageID) on connection \(connection)\(isRepeat ? " again" : ""): \(acknowledgement.map { "\($0)" } ?? "sent")"
    }
}

/// What a browser said beside `hello` and `register`.
public struct BrowserReport: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Hashable, Codable {
        case acknowledged, failed, unsubscribed
    }

    public var kind: Kind
    public var uaid: String
    public var receivedAt: Timestamp
    /// The message of `ack` and `nack`.
    public var messageID: String?
    /// The subscription of `ack` and `unregister`.
    public var channelID: String?
    /// The code that came, or the one that its absence means.
    public var code: Int
}

/// Everything that happened, the newest entries of each kind.
public struct PushRecorder: Sendable {
    private var exchangeList: NewestEntries<SenderExchange>
    private var deliveryList: NewestEntries<BrowserDelivery>
    private var reportList: NewestEntries<BrowserReport>

    init(capacity: Int) {
        exchangeList = NewestEntries(capacity: capacity)
        deliveryList = NewestEntries(capacity: capacity)
        reportList = NewestEntries(capacity: capacity)
    }

    /// Requests of senders, oldest first.
    public var exchanges: [SenderExchange] { exchangeList.elements }
    /// Messages that were sent to browsers, oldest first.
    public var deliveries: [BrowserDelivery] { deliveryList.elements }
    /// Acknowledgements, failures and ends of subscriptions, oldest first.
    public var reports: [BrowserReport] { reportList.elements }

    mutating func record(_ exchange: SenderExchange) { exchangeList.append(exchange) }

    mutating func record(_ delivery: BrowserDelivery) { deliveryList.append(delivery) }

    mutating func record(_ report: BrowserReport) {
        reportList.append(report)
        guard report.kind == .acknowledged, let id = report.messageID else { return }
        deliveryList.changeLast {
            $0.messageID == id
        } _: {
            $0.acknowledgement = report.code
        }
    }

    mutating func clear() {
        exchangeList.clear()
        deliveryList.clear()
        reportList.clear()
    }
}
