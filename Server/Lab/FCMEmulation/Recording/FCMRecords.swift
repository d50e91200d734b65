import RichPushModel
import ServiceEmulation

/// A request with its answer. It holds no access token, no assertion, and no registration token.
public struct FCMExchange: Sendable, Hashable, Codable {
    public var receivedAt: Timestamp
    public var method: String
    /// The kind of the path: `send`, `token`, `iid batchAdd`, `subscribe`.
    public var path: String
    public var isHTTP2: Bool
    public var bodySize: Int
    /// `user-agent`, `x-firebase-client` and such, by their names in lower case.
    public var headers: [String: String]
    /// The id of the project, the service account that calls, and the name of the device here.
    public var project, account, device: String?
    /// What was sent, by the names of the API. Tokens are cut to a few characters.
    public var message: JSONValue?
    public var isValidation: Bool?
    /// What was answered; absent when the connection or the stream ended instead.
    public var status: Int?
    /// `FcmError.errorCode` of the answer.
    public var errorCode: String?
    /// The rule that the request broke, and the field that the answer names.
    public var brokenRule: FCMRule?
    public var field: String?
    public var fault: FCMFault?
    /// The id of the message that it made.
    public var messageID: String?
}

/// Something that happened on a phone.
public struct PhoneRecord: Sendable, Hashable, Codable {
    public var device: String
    public var at: Timestamp
    public var event: AndroidEvent
}

/// What an observer of the service hears, in its order.
public enum FCMNews: Sendable, Hashable {
    case exchange(FCMExchange)
    case delivery(FCMDeliveryRecord)
}

/// Everything that happened, the newest entries of each kind, oldest first.
public struct FCMRecorder: Sendable {
    var exchangeList: NewestEntries<FCMExchange>
    var deliveryList: NewestEntries<FCMDeliveryRecord>
    var phoneList: NewestEntries<PhoneRecord>

    init(capacity: Int) {
        (exchangeList, deliveryList) = (NewestEntries(capacity: capacity), NewestEntries(capacity: capacity))
        phoneList = NewestEntries(capacity: capacity)
    }

    /// Requests.
    public var exchanges: [FCMExchange] { exchangeList.elements }
    /// The number of the request that is recorded next. They count from 0 and go on when records are forgotten.
    public var nextExchange: Int { exchangeList.count }
    /// Messages for devices, in the order in which they came to their last state.
    public var deliveries: [FCMDeliveryRecord] { deliveryList.elements }
    /// What happened on phones. Unlike the other lists it holds registration tokens, as the phones do.
    public var phones: [PhoneRecord] { phoneList.elements }

    mutating func clear() {
        exchangeList.clear()
        deliveryList.clear()
        phoneList.clear()
    }
}
