/// What the answer to a broken rule is.
struct FCMRuleFacts: Sendable, Hashable {
    /// The form of an answer. Google's services do not agree on one.
    enum Form: Sendable, Hashable {
        /// A page, as Google's front end answers what it does not know.
        case page
        /// `error` and `error_description` of OAuth 2.
        case oauth(String)
        /// `google.rpc.Status` with `ErrorInfo`, without a word of FCM.
        case info(status: String, reason: String)
        /// `google.rpc.Status` with `BadRequest` alone, as the reader of JSON answers.
        case reader
        /// `google.rpc.Status` without details.
        case bare(status: String)
        /// `google.rpc.Status` with `FcmError`, and with `BadRequest` where a field is named.
        case fcm(status: String, code: String)
        /// `{"error": "…"}` of the older service for topics.
        case word(String)
    }

    let http: Int
    let form: Form
    /// Where the field is, when a violation does not say it more exactly.
    let field: String?
    let text: String
}

extension FCMRule {
    /// The facts of the rule. Every rule is in the table: a test compares the two.
    var facts: FCMRuleFacts { Self.table[self] ?? FCMRuleFacts(http: 500, form: .bare(status: "INTERNAL"), field: nil, text: "") }

    /// The HTTP status of the answer.
    public var status: Int { facts.http }

    /// The field that the answer names, unless the violation is at a more exact place.
    public var field: String? { facts.field }

    /// The sentence of the answer, without values of the request.
    public var text: String { facts.text }

    /// `FcmError.errorCode`; `nil` where the answer has none.
    public var errorCode: String? { if case .fcm(_, let code) = facts.form { code } else { nil } }

    /// The canonical status; `nil` for answers that are no `google.rpc.Status`.
    public var canonicalStatus: String? {
        switch facts.form {
        case .info(let status, _), .bare(let status), .fcm(let status, _): status
        case .reader: "INVALID_ARGUMENT"
        case .page, .oauth, .word: nil
        }
    }

    private static func page(_ text: String) -> FCMRuleFacts { FCMRuleFacts(http: 404, form: .page, field: nil, text: text) }

    private static func oauth(_ error: String, _ text: String, http: Int = 400) -> FCMRuleFacts {
        FCMRuleFacts(http: http, form: .oauth(error), field: nil, text: text)
    }

    private static func info(_ http: Int, _ reason: String, _ text: String) -> FCMRuleFacts {
        FCMRuleFacts(
            http: http, form: .info(status: http == 401 ? "UNAUTHENTICATED" : "PERMISSION_DENIED", reason: reason), field: nil,
            text: text)
    }

    private static func reader(_ text: String, _ field: String? = nil) -> FCMRuleFacts {
        FCMRuleFacts(http: 400, form: .reader, field: field, text: text)
    }

    private static func bare(_ http: Int, _ status: String, _ text: String) -> FCMRuleFacts {
        FCMRuleFacts(http: http, form: .bare(status: status), field: nil, text: text)
    }

    /// An argument that FCM itself refuses.
    private static func bad(_ field: String, _ text: String) -> FCMRuleFacts {
        FCMRuleFacts(
            http: 400, form: .fcm(status: "INVALID_ARGUMENT", code: "INVALID_ARGUMENT"), field: field, text: text)
    }

    private static func fcm(_ http: Int, _ status: String, _ code: String, _ text: String) -> FCMRuleFacts {
        FCMRuleFacts(http: http, form: .fcm(status: status, code: code), field: nil, text: text)
    }

    private static func quota(_ text: String) -> FCMRuleFacts { fcm(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", text) }

    private static func word(_ http: Int, _ error: String, _ text: String) -> FCMRuleFacts {
        FCMRuleFacts(http: http, form: .word(error), field: nil, text: text)
    }

    static let table: [FCMRule: FCMRuleFacts] = [address, grants, access, body, targets, content, apple, devices, topics]
        .reduce(into: [:]) { $0.merge($1) { first, _ in first } }

    private static let address: [FCMRule: FCMRuleFacts] = [
        .path: page("The requested URL was not found on this server."),
        .method: page("The requested URL was not found on this server. Its method is another one."),
        .bodySize: bare(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 1048576 bytes."),
    ]

    private static let timeText =
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
        + "Check your iat and exp values in the JWT claim."

    private static let grants: [FCMRule: FCMRuleFacts] = [
        .grantForm: oauth("invalid_request", "The content type is not application/x-www-form-urlencoded."),
        .grantTypePresent: oauth("invalid_request", "Required parameter is missing: grant_type"),
        .grantType: oauth("unsupported_grant_type", "Invalid grant_type"),
        .assertionPresent: oauth("invalid_request", "Required parameter is missing: assertion"),
        .assertionForm: oauth("invalid_grant", "Invalid JWT: Failed to parse the assertion."),
        .assertionAlgorithm: oauth("invalid_grant", "Invalid JWT: The algorithm is not RS256."),
        .issuerKnown: oauth("invalid_grant", "Invalid grant: account not found"),
        .assertionSignature: oauth("invalid_grant", "Invalid JWT Signature."),
        .audience: oauth("invalid_grant", "Invalid JWT: Failed audience check. The audience is the URL of this endpoint."),
        .assertionTimes: oauth("invalid_grant", "Invalid JWT: iat and exp have to be numbers."),
        .assertionFresh: oauth("invalid_grant", timeText), .assertionLifetime: oauth("invalid_grant", timeText),
        .assertionNotFuture: oauth("invalid_grant", timeText),
        .scopePresent: oauth("invalid_scope", "Empty or missing scope not allowed."),
        .scopeKnown: oauth("invalid_scope", "Invalid OAuth scope or ID token audience provided."),
    ]

    private static let invalidCredential =
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication "
        + "credential."

    private static let access: [FCMRule: FCMRuleFacts] = [
        .credentialPresent: info(
            401, "CREDENTIALS_MISSING",
            "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid "
                + "authentication credential."),
        .credentialKnown: info(401, "ACCESS_TOKEN_TYPE_UNSUPPORTED", invalidCredential),
        .credentialFresh: info(401, "ACCESS_TOKEN_EXPIRED", invalidCredential),
        .credentialNotRevoked: info(401, "ACCESS_TOKEN_EXPIRED", invalidCredential),
        .scopeSufficient: info(
            403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "Request had insufficient authentication scopes."),
        .projectKnown: bare(404, "NOT_FOUND", "Requested entity was not found."),
        .apiEnabled: info(
            403, "SERVICE_DISABLED",
            "Firebase Cloud Messaging API has not been used in this project before or it is disabled. Enable it, then retry."),
        .permission: info(
            403, "IAM_PERMISSION_DENIED",
            "Permission 'cloudmessaging.messages.create' denied on the project (or it may not exist)."),
        .projectQuota: quota("Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute'."),
    ]

    private static let body: [FCMRule: FCMRuleFacts] = [
        .contentType: reader("The content type is not application/json."),
        .json: reader("Invalid JSON payload received."),
        .rootObject: reader("Invalid JSON payload received. Root element must be a message."),
        .duplicateField: reader("Invalid JSON payload received. A name occurs twice.", "message"),
        .unknownField: reader("Invalid JSON payload received. Unknown name.", "message"),
        .fieldType: reader("Invalid value.", "message"),
        .enumValue: reader("Invalid value.", "message"),
        .durationForm: reader("Illegal duration format; duration must end with 's'", "message.android.ttl"),
        .messagePresent: bad("message", "The message is not set."),
    ]

    private static let targets: [FCMRule: FCMRuleFacts] = [
        .targetPresent: bad("message", "Recipient of the message is not set."),
        .oneTarget: reader("Invalid value at 'message' (oneof), oneof field 'target' is already set.", "message"),
        .tokenShape: bad("message.token", "The registration token is not a valid FCM registration token"),
        .tokenIssued: bad("message.token", "The registration token is not a valid FCM registration token"),
        .fidShape: bad("message.fid", "The installation ID is not a valid Firebase installation ID"),
        .topicPrefix: bad("message.topic", "Invalid topic name: it has no /topics/ before it."),
        .topicName: bad("message.topic", "Invalid topic name: it does not match [a-zA-Z0-9-_.~%]+"),
        .conditionSyntax: bad("message.condition", "Invalid condition expression provided."),
        .conditionTopics: bad("message.condition", "Invalid condition expression provided: more than five topics."),
    ]

    private static let content: [FCMRule: FCMRuleFacts] = [
        .dataKeyReserved: bad("message.data[0].key", "Invalid data payload key: it is reserved."),
        .dataKeyPrefix: bad("message.data[0].key", "Invalid data payload key: google and gcm are reserved."),
        .ttlRange: bad("message.android.ttl", "Invalid time to live: it is not between 0s and 2419200s."),
        .color: bad("message.android.notification.color", "Invalid color: it must be in the form #rrggbb."),
        .eventTime: reader("Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone offset."),
        .imageURL: bad("message.notification.image", "Invalid image: it is no HTTPS URL."),
        .lightColor: bad("message.android.notification.light_settings.color", "Invalid color: a part is not between 0 and 1."),
        .lightSettings: bad(
            "message.android.notification.light_settings",
            "Invalid light settings: color, light_on_duration and light_off_duration are required."),
        .analyticsLabel: bad(
            "message.fcm_options.analytics_label", "Invalid analytics label: it does not match ^[a-zA-Z0-9-_.~%]{1,50}$"),
        .webLink: bad("message.webpush.fcm_options.link", "Invalid link: it is no HTTPS URL."),
        .webTTL: bad("message.webpush.headers[0].value", "Invalid TTL: it is no whole number."),
        .webUrgency: bad("message.webpush.headers[0].value", "Invalid Urgency: it is none of very-low, low, normal, high."),
        .webTopic: bad("message.webpush.headers[0].value", "Invalid Topic: it is not 1 to 32 characters of base64url."),
        .messageSize: bare(400, "INVALID_ARGUMENT", "Android message is too big"),
        .topicMessageSize: bare(400, "INVALID_ARGUMENT", "Message is too big"),
    ]

    private static let apple: [FCMRule: FCMRuleFacts] = [
        .apnsHeaderName: bad("message.apns.headers[0].key", "Invalid APNs header: its name does not begin with apns-."),
        .apnsPriority: bad("message.apns.headers[0].value", "Invalid apns-priority: it is none of 1, 5, 10."),
        .apnsExpiration: bad("message.apns.headers[0].value", "Invalid apns-expiration: it is no whole number."),
        .apnsPushType: bad("message.apns.headers[0].value", "Invalid apns-push-type: APNs has no such type."),
        .apnsCollapseID: bad("message.apns.headers[0].value", "Invalid apns-collapse-id: it has more than 64 bytes."),
        .apsPresent: bad("message.apns.payload", "Invalid APNs payload: aps is missing."),
        .apsObject: bad("message.apns.payload.aps", "Invalid APNs payload: aps is no object."),
        .apnsPayloadSize: bare(400, "INVALID_ARGUMENT", "APNs payload is too big"),
    ]

    private static let devices: [FCMRule: FCMRuleFacts] = [
        .registered: fcm(404, "NOT_FOUND", "UNREGISTERED", "Requested entity was not found."),
        .senderID: fcm(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", "SenderId mismatch"),
        .restrictedPackage: bad(
            "message.android.restricted_package_name", "The package name is not that of the app of the target."),
        .thirdPartyKey: fcm(
            401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR", "The project's key for APNs or for web push was refused."),
        .deviceMinuteQuota: quota("Message rate to the device exceeded in this minute."),
        .deviceHourQuota: quota("Message rate to the device exceeded in this hour."),
        .collapsibleQuota: quota("Rate of collapsible messages to the device exceeded."),
    ]

    private static let topics: [FCMRule: FCMRuleFacts] = [
        .topicTokenHeader: word(401, "UNAUTHENTICATED", "The header access_token_auth is not true."),
        .topicTarget: word(400, "INVALID_ARGUMENT", "to is not /topics/ and a name."),
        .topicTokens: word(400, "INVALID_ARGUMENT", "registration_tokens is no list of registration tokens."),
        .topicTokenCount: word(400, "INVALID_ARGUMENT", "registration_tokens has more than 1000."),
        .topicNotFollowed: bare(409, "ALREADY_EXISTS", "Requested entity already exists"),
        .topicFollowed: bare(404, "NOT_FOUND", "Requested entity was not found."),
        .topicCount: bare(429, "RESOURCE_EXHAUSTED", "TOO_MANY_TOPICS"),
    ]
}
