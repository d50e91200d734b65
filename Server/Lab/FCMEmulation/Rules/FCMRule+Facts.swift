/// What the answer to a broken rule is.
struct FCMRuleFacts: Sendable, Hashable {
    /// The form of an answer. Google's services do not agree on one.
    enum Form: Sendable, Hashable {
        /// A page, as Google's front end answers what it does not know.
        case page
        /// `error` and `error_description` of OAuth 2.
        case oauth(String)
        /// `google.rpc.Status` with the reason in `ErrorInfo`, without a word of FCM.
        case info(String)
        /// `google.rpc.Status` with `BadRequest` alone, as the reader of JSON answers.
        case reader
        /// `google.rpc.Status` without details.
        case bare
        /// `google.rpc.Status` with the code in `FcmError`, and with `BadRequest` where a field is named.
        case fcm(String)
        /// `{"error": "…"}` of the older service for topics.
        case word(String)
    }

    let http: Int
    let form: Form
    let text: String
    /// Where the field is, when a violation does not say it more exactly.
    let field: String?

    init(_ http: Int, _ form: Form, _ text: String, at field: String? = nil) {
        (self.http, self.form, self.text, self.field) = (http, form, text, field)
    }

    init(_ form: Form, _ text: String, at field: String? = nil) { self.init(400, form, text, at: field) }

    /// An argument that FCM itself refuses.
    static func bad(_ field: String, _ text: String) -> Self { Self(.fcm("INVALID_ARGUMENT"), text, at: field) }

    static func quota(_ text: String) -> Self { Self(429, .fcm("QUOTA_EXCEEDED"), text) }
}

extension FCMRule {
    /// The facts of the rule. Every rule is in the table: a test compares the two.
    var facts: FCMRuleFacts { Self.table[self] ?? FCMRuleFacts(500, .bare, "") }
    /// The HTTP status of the answer.
    public var status: Int { facts.http }
    /// The field that the answer names, unless the violation is at a more exact place.
    public var field: String? { facts.field }
    /// The sentence of the answer, without values of the request.
    public var text: String { facts.text }
    /// `FcmError.errorCode`; `nil` where the answer has none.
    public var errorCode: String? { if case .fcm(let code) = facts.form { code } else { nil } }
    /// The canonical status; `nil` for answers that are no `google.rpc.Status`.
    public var canonicalStatus: String? {
        switch facts.form {
        case .info, .reader, .bare, .fcm: GoogleAnswer.canonicalStatuses[status]
        case .page, .oauth, .word: nil
        }
    }

    private static let timeText =
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
        + "Check your iat and exp values in the JWT claim."

    private static let invalidCredential =
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
        + "authentication credential."

    static let table: [FCMRule: FCMRuleFacts] = [
        .path: .init(404, .page, "The requested URL was not found on this server."),
        .method: .init(404, .page, "The requested URL was not found on this server. Its method is another one."),
        .bodySize: .init(.bare, "Request payload size exceeds the limit: 1048576 bytes."),
        .grantForm: .init(.oauth("invalid_request"), "The content type is not application/x-www-form-urlencoded."),
        .grantTypePresent: .init(.oauth("invalid_request"), "Required parameter is missing: grant_type"),
        .grantType: .init(.oauth("unsupported_grant_type"), "Invalid grant_type"),
        .assertionPresent: .init(.oauth("invalid_request"), "Required parameter is missing: assertion"),
        .assertionForm: .init(.oauth("invalid_grant"), "Invalid JWT: Failed to parse the assertion."),
        .assertionAlgorithm: .init(.oauth("invalid_grant"), "Invalid JWT: The algorithm is not RS256."),
        .issuerKnown: .init(.oauth("invalid_grant"), "Invalid grant: account not found"),
        .assertionSignature: .init(.oauth("invalid_grant"), "Invalid JWT Signature."),
        .audience: .init(
            .oauth("invalid_grant"), "Invalid JWT: Failed audience check. The audience is the URL of this endpoint."),
        .assertionTimes: .init(.oauth("invalid_grant"), "Invalid JWT: iat and exp have to be numbers."),
        .assertionFresh: .init(.oauth("invalid_grant"), timeText), .assertionLifetime: .init(.oauth("invalid_grant"), timeText),
        .assertionNotFuture: .init(.oauth("invalid_grant"), timeText),
        .scopePresent: .init(.oauth("invalid_scope"), "Empty or missing scope not allowed."),
        .scopeKnown: .init(.oauth("invalid_scope"), "Invalid OAuth scope or ID token audience provided."),
        .credentialPresent: .init(
            401, .info("CREDENTIALS_MISSING"),
            "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid "
                + "authentication credential."),
        .credentialKnown: .init(401, .info("ACCESS_TOKEN_TYPE_UNSUPPORTED"), invalidCredential),
        .credentialFresh: .init(401, .info("ACCESS_TOKEN_EXPIRED"), invalidCredential),
        .credentialNotRevoked: .init(401, .info("ACCESS_TOKEN_EXPIRED"), invalidCredential),
        .scopeSufficient: .init(403, .info("ACCESS_TOKEN_SCOPE_INSUFFICIENT"), "Request had insufficient authentication scopes."),
        .projectKnown: .init(404, .bare, "Requested entity was not found."),
        .apiEnabled: .init(
            403, .info("SERVICE_DISABLED"),
            "Firebase Cloud Messaging API has not been used in this project before or it is disabled. Enable it, then retry."),
        .permission: .init(
            403, .info("IAM_PERMISSION_DENIED"),
            "Permission 'cloudmessaging.messages.create' denied on the project (or it may not exist)."),
        .projectQuota: .quota("Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute'."),
        .contentType: .init(.reader, "The content type is not application/json."),
        .json: .init(.reader, "Invalid JSON payload received."),
        .rootObject: .init(.reader, "Invalid JSON payload received. Root element must be a message."),
        .duplicateField: .init(.reader, "Invalid JSON payload received. A name occurs twice.", at: "message"),
        .unknownField: .init(.reader, "Invalid JSON payload received. Unknown name.", at: "message"),
        .fieldType: .init(.reader, "Invalid value.", at: "message"),
        .enumValue: .init(.reader, "Invalid value.", at: "message"),
        .durationForm: .init(.reader, "Illegal duration format; duration must end with 's'", at: "message.android.ttl"),
        .messagePresent: .bad("message", "The message is not set."),
        .targetPresent: .bad("message", "Recipient of the message is not set."),
        .oneTarget: .init(.reader, "Invalid value at 'message' (oneof), oneof field 'target' is already set.", at: "message"),
        .tokenShape: .bad("message.token", "The registration token is not a valid FCM registration token"),
        .tokenIssued: .bad("message.token", "The registration token is not a valid FCM registration token"),
        .fidShape: .bad("message.fid", "The installation ID is not a valid Firebase installation ID"),
        .topicPrefix: .bad("message.topic", "Invalid topic name: it has no /topics/ before it."),
        .topicName: .bad("message.topic", "Invalid topic name: it does not match [a-zA-Z0-9-_.~%]+"),
        .conditionSyntax: .bad("message.condition", "Invalid condition expression provided."),
        .conditionTopics: .bad("message.condition", "Invalid condition expression provided: more than five topics."),
        .dataKeyReserved: .bad("message.data[0].key", "Invalid data payload key: it is reserved."),
        .dataKeyPrefix: .bad("message.data[0].key", "Invalid data payload key: google and gcm are reserved."),
        .ttlRange: .bad("message.android.ttl", "Invalid time to live: it is not between 0s and 2419200s."),
        .color: .bad("message.android.notification.color", "Invalid color: it must be in the form #rrggbb."),
        .eventTime: .init(.reader, "Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone offset."),
        .imageURL: .bad("message.notification.image", "Invalid image: it is no HTTPS URL."),
        .lightColor: .bad("message.android.notification.light_settings.color", "Invalid color: a part is not between 0 and 1."),
        .lightSettings: .bad(
            "message.android.notification.light_settings",
            "Invalid light settings: color, light_on_duration and light_off_duration are required."),
        .analyticsLabel: .bad(
            "message.fcm_options.analytics_label", "Invalid analytics label: it does not match ^[a-zA-Z0-9-_.~%]{1,50}$"),
        .webLink: .bad("message.webpush.fcm_options.link", "Invalid link: it is no HTTPS URL."),
        .webTTL: .bad("message.webpush.headers[0].value", "Invalid TTL: it is no whole number."),
        .webUrgency: .bad("message.webpush.headers[0].value", "Invalid Urgency: it is none of very-low, low, normal, high."),
        .webTopic: .bad("message.webpush.headers[0].value", "Invalid Topic: it is not 1 to 32 characters of base64url."),
        .messageSize: .init(.bare, "Android message is too big"),
        .topicMessageSize: .init(.bare, "Message is too big"),
        .apnsHeaderName: .bad("message.apns.headers[0].key", "Invalid APNs header: its name does not begin with apns-."),
        .apnsPriority: .bad("message.apns.headers[0].value", "Invalid apns-priority: it is none of 1, 5, 10."),
        .apnsExpiration: .bad("message.apns.headers[0].value", "Invalid apns-expiration: it is no whole number."),
        .apnsPushType: .bad("message.apns.headers[0].value", "Invalid apns-push-type: APNs has no such type."),
        .apnsCollapseID: .bad("message.apns.headers[0].value", "Invalid apns-collapse-id: it has more than 64 bytes."),
        .apsPresent: .bad("message.apns.payload", "Invalid APNs payload: aps is missing."),
        .apsObject: .bad("message.apns.payload.aps", "Invalid APNs payload: aps is no object."),
        .apnsPayloadSize: .init(.bare, "APNs payload is too big"),
        .registered: .init(404, .fcm("UNREGISTERED"), "Requested entity was not found."),
        .senderID: .init(403, .fcm("SENDER_ID_MISMATCH"), "SenderId mismatch"),
        .restrictedPackage: .bad(
            "message.android.restricted_package_name", "The package name is not that of the app of the target."),
        .thirdPartyKey: .init(401, .fcm("THIRD_PARTY_AUTH_ERROR"), "The project's key for APNs or for web push was refused."),
        .deviceMinuteQuota: .quota("Message rate to the device exceeded in this minute."),
        .deviceHourQuota: .quota("Message rate to the device exceeded in this hour."),
        .collapsibleQuota: .quota("Rate of collapsible messages to the device exceeded."),
        .topicTokenHeader: .init(401, .word("UNAUTHENTICATED"), "The header access_token_auth is not true."),
        .topicTarget: .init(.word("INVALID_ARGUMENT"), "to is not /topics/ and a name."),
        .topicTokens: .init(.word("INVALID_ARGUMENT"), "registration_tokens is no list of registration tokens."),
        .topicTokenCount: .init(.word("INVALID_ARGUMENT"), "registration_tokens has more than 1000."),
        .topicNotFollowed: .init(409, .bare, "Requested entity already exists"),
        .topicFollowed: .init(404, .bare, "Requested entity was not found."),
        .topicCount: .init(429, .bare, "TOO_MANY_TOPICS"),
    ]
}
