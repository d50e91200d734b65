/// What a sender of Web Push has to obey, in the order in which requests are judged.
///
/// The first group is what Mozilla's service refuses (Reference/WebPush.md#6-6). Beside it stand the strict rules of a local service
/// (Reference/WebPush.md#8-1), which find mistakes before a browser does.
public enum SenderRule: String, Sendable, Hashable, Codable, CaseIterable {
    /// The path is one that the service has (Reference/WebPush.md#6-5).
    case path
    /// Messages are posted.
    case method
    /// No redirect is followed (Reference/WebPush.md#8-1-12).
    case noRedirect
    /// At most 4,096 bytes (Reference/WebPush.md#2-3).
    case bodySize
    /// The token of the endpoint is one that this service made, for this version of the path.
    case tokenReadable
    /// The browser that the endpoint belongs to is known.
    case userKnown
    /// The subscription was not ended.
    case subscriptionKnown

    /// An endpoint with a key takes no message without VAPID.
    case vapidPresent
    /// `vapid t=…, k=…` (Reference/WebPush.md#4-3), where `t` has three parts and `k` is a point on P-256.
    case vapidForm
    /// `typ` is JWT and `alg` is ES256.
    case vapidHeader
    /// The signature is that of the key `k`.
    case vapidSignature
    /// The key `k` is the one that the browser subscribed with (Reference/WebPush.md#8-1-10).
    case vapidKey
    /// The audience is an origin, without a path (Reference/WebPush.md#8-1-8).
    case vapidAudiencePath
    /// The audience is the origin of the endpoint.
    case vapidAudience
    /// `exp` is there, a number.
    case vapidExpiry
    /// The token has not expired.
    case vapidFresh
    /// The token expires within 24 hours.
    case vapidLifetime
    /// `sub` is there, with `mailto:` or `https:` (Reference/WebPush.md#8-1-9).
    case vapidSubject

    /// `TTL` is there.
    case ttlPresent
    /// `TTL` is a whole number.
    case ttlNumber
    /// `TTL` is not negative.
    case ttlNotNegative
    /// At most 32 characters of the URL-safe alphabet.
    case topic
    /// One of four words (Reference/WebPush.md#8-1-11).
    case urgency

    /// A body says how it is encoded (Reference/WebPush.md#8-1-5).
    case encodingPresent
    /// The encoding is `aes128gcm`, the only one that a new sender needs (Reference/WebPush.md#3-5).
    case encoding
    /// Salt and key stand in the body, not in headers as the older encoding has them.
    case noKeyHeaders
    /// The body has a whole header (Reference/WebPush.md#3-3).
    case bodyHeader
    /// The key id has 65 bytes (Reference/WebPush.md#8-1-2).
    case keyIDLength
    /// The key id is a point on P-256 (Reference/WebPush.md#8-1-3).
    case keyOnCurve
    /// The record size is 18 or more (Reference/WebPush.md#8-1-1).
    case recordSize
    /// There is a record: a delimiter and a tag at least (Reference/WebPush.md#8-1-4).
    case recordPresent
    /// The body can be divided into records of the size that it names (Reference/WebPush.md#8-1-1).
    case recordSizeFits
    /// There is one record alone (Reference/WebPush.md#8-1-4).
    case oneRecord
    /// Salt and key were not used for another message (Reference/WebPush.md#8-1-7).
    case freshKeys
}

extension SenderRule {
    /// The answer to a request that breaks the rule.
    var status: Int {
        switch self {
        case .path, .tokenReadable: 404
        case .method: 405
        case .bodySize: 413
        case .userKnown, .subscriptionKnown: 410
        case .vapidPresent, .vapidForm, .vapidHeader, .vapidSignature, .vapidKey, .vapidAudiencePath, .vapidAudience,
            .vapidExpiry, .vapidFresh, .vapidLifetime, .vapidSubject:
            401
        case .noRedirect, .ttlPresent, .ttlNumber, .ttlNotNegative, .topic, .urgency, .encodingPresent, .encoding, .noKeyHeaders,
            .bodyHeader, .keyIDLength, .keyOnCurve, .recordSize, .recordPresent, .recordSizeFits, .oneRecord, .freshKeys:
            400
        }
    }

    /// Mozilla's number of the error (Reference/WebPush.md#6-6); `nil` for what Mozilla's service does not refuse by a number.
    var errno: Int? {
        switch self {
        case .method, .noRedirect, .urgency: nil
        case .path, .tokenReadable: 102
        case .userKnown: 103
        case .bodySize: 104
        case .subscriptionKnown: 106
        case .vapidPresent, .vapidForm, .vapidHeader, .vapidSignature, .vapidKey, .vapidAudiencePath, .vapidAudience,
            .vapidExpiry, .vapidFresh, .vapidLifetime, .vapidSubject:
            109
        case .encodingPresent, .encoding, .noKeyHeaders, .bodyHeader, .keyIDLength, .keyOnCurve, .recordSize, .recordPresent,
            .recordSizeFits, .oneRecord, .freshKeys:
            110
        case .ttlPresent: 111
        case .ttlNumber: 112
        case .topic: 113
        case .ttlNotNegative: 114
        }
    }
}

extension SenderRule: CustomStringConvertible {
    /// What is wrong, in a sentence without any value of the request.
    public var description: String {
        switch self {
        case .path: "There is nothing at this path."
        case .method: "The method is not allowed at this path."
        case .noRedirect: "A sender follows no redirect."
        case .bodySize: "The body has more than 4096 bytes."
        case .tokenReadable: "The token of the endpoint is not one of this service."
        case .userKnown: "The browser is not known any more."
        case .subscriptionKnown: "The subscription has ended."
        case .vapidPresent: "The endpoint needs VAPID in the header Authorization."
        case .vapidForm: "The header Authorization is not: vapid t=JWT, k=KEY."
        case .vapidHeader: "The header of the VAPID token does not say JWT and ES256."
        case .vapidSignature: "The signature of the VAPID token is not that of the key k."
        case .vapidKey: "The key k is not the one that the browser subscribed with."
        case .vapidAudiencePath: "The claim aud has a path. It is an origin."
        case .vapidAudience: "The claim aud is not the origin of the endpoint."
        case .vapidExpiry: "The claim exp is no number."
        case .vapidFresh: "The VAPID token has expired."
        case .vapidLifetime: "The claim exp is more than 24 hours ahead."
        case .vapidSubject: "The claim sub is missing, or has neither mailto: nor https:."
        case .ttlPresent: "The header TTL is missing."
        case .ttlNumber: "The header TTL is not a whole number."
        case .ttlNotNegative: "The header TTL is negative."
        case .topic: "The header Topic is not 1 to 32 characters of base64url."
        case .urgency: "The header Urgency is none of very-low, low, normal, high."
        case .encodingPresent: "There is a body, and no header Content-Encoding."
        case .encoding: "The header Content-Encoding is not aes128gcm."
        case .noKeyHeaders: "A header has a salt or a key, which aes128gcm has in the body."
        case .bodyHeader: "The body ends within its header."
        case .keyIDLength: "The key id in the body has not 65 bytes."
        case .keyOnCurve: "The key in the body is no point on P-256."
        case .recordSize: "The record size in the body is below 18."
        case .recordPresent: "The body has no whole record."
        case .recordSizeFits: "The record size does not fit the length of the body."
        case .oneRecord: "The body has more than one record."
        case .freshKeys: "Salt and key were used for another message."
        }
    }
}
