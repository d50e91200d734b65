import Logging

/// The keys that log metadata may have. The log handler drops every other key, so that nothing reaches a log by accident.
///
/// Modules on lower floors write the same words as text; a test reads their sources and fails for a word that is not here.
/// None of them ever holds a secret, content, or more than 6 characters of a device token.
public enum LogKey: String, Sendable, CaseIterable {
    // One request
    case requestID = "request_id"
    case traceID = "trace_id"
    case method
    case route
    case status
    case durationMilliseconds = "duration_ms"
    case remoteAddress = "remote"
    // What went wrong
    case error
    case errorCode = "error_code"
    case errorDetail = "error_detail"
    case errorType = "error_type"
    // Objects
    case user
    case richID = "rich_id"
    case scheduleID = "schedule_id"
    case activityID = "activity_id"
    case channelID = "channel_id"
    case webhookID = "webhook_id"
    case notificationID = "notification_id"
    case installationID = "installation_id"
    case record
    case by
    case token
    case hub
    case hubID = "hub_id"
    // A send
    case rule
    case audience
    case targets
    case hubs
    case platform
    case slice
    case state
    case job
    case kind
    case reason
    case count
    case limit
    // APNs
    case apnsConnection = "apns.connection"
    case apnsReason = "apns.reason"
    case apnsCode = "apns.code"
    case apnsID = "apns.id"
    case environment
    case topic
    case keyID = "key_id"
    // Access and the audit
    case issuer
    case serviceKey = "key"
    case auditSize = "size"
    case auditNote = "note"
    // The process
    case connection
    case address
    case host
    case port
    case path
    case component
    case setting
    case version
    case check
    case attempt
    case delayMilliseconds = "delay_ms"
    case stepMilliseconds = "step_ms"

    /// What the key holds, for the documentation.
    public var meaning: String {
        switch self {
        case .requestID: "The number of the request, as in the answer's `X-Request-Id`."
        // 32 hexadecimal digits (W3C Trace Context).
        case .traceID: "The trace id of the request's `traceparent`."
        case .method: "The request method."
        case .route: "The template of the route, for example `/api/v1/notifications/{id}`."
        case .status: "The status code of the answer."
        case .durationMilliseconds: "How long it took, in milliseconds."
        case .remoteAddress: "The address of the peer."
        case .error: "What went wrong, in words."
        case .errorCode: "The code of the error table, or the name that the database engine gives a fault."
        case .errorDetail: "What was wrong this time and where."
        case .errorType: "The type of an unexpected error."
        case .user: "The name of the user who asked."
        case .richID: "The id of a notification of the app backend."
        case .activityID: "The number of a Live Activity."
        case .channelID: "The number of a broadcast channel."
        case .scheduleID: "The id of a schedule."
        case .webhookID: "The id of a webhook."
        case .notificationID: "The id of a send at the hub."
        case .installationID: "The id of an installation of the app."
        case .record: "The id of a registration."
        case .by: "What caused a change, for example the record that replaced another."
        case .token: "At most six characters of a device token."
        case .hub: "The name of a hub."
        case .hubID: "The id of a hub, as `clarion hub list` shows it beside the name."
        case .hubs: "The names of hubs."
        case .platform: "The platform of devices, such as `apns` or `gcm`."
        case .rule: "The name of the access rule whose key signed a request."
        case .audience: "To whom a send goes: `everyone`, `own devices`, `handles`, or a tag expression."
        case .targets: "How many device tokens a direct send names."
        case .slice: "The number of a slice of a send."
        case .state: "The state of a send or a job."
        case .job: "The number of an import or export."
        case .kind: "The kind of a job or a content."
        case .reason: "Why, in words."
        case .count: "How many."
        case .limit: "The limit that was reached."
        case .apnsConnection: "The number of a connection to APNs."
        case .apnsReason: "The reason that APNs or the client gives."
        case .apnsCode: "The status or error code that APNs gives."
        case .apnsID: "The `apns-id` of a push."
        case .environment: "`sandbox` or `production`."
        case .topic: "The topic of a push."
        case .keyID: "The id of a signing key."
        case .issuer: "The name of a trusted issuer, as the settings have it."
        case .serviceKey: "The name of a service key."
        case .auditSize: "How many entries the audit has."
        case .auditNote: "A signed checkpoint of the audit, for keeping elsewhere."
        case .connection: "The number of a connection."
        case .address: "The address of a listener or of another service."
        case .host: "The name of another host."
        case .port: "A port."
        case .path: "A path in the file system."
        case .component: "The part of the program."
        case .setting: "The name of a setting."
        case .version: "The version of a program or a schema."
        case .check: "The name of a readiness check."
        case .attempt: "The number of an attempt."
        case .delayMilliseconds: "How long the program waits, in milliseconds."
        case .stepMilliseconds: "How far the wall clock was set, in milliseconds; negative is back."
        }
    }
}

extension Logger.Metadata {
    /// Metadata under a key of the list.
    public subscript(key: LogKey) -> Logger.MetadataValue? {
        get { self[key.rawValue] }
        set { self[key.rawValue] = newValue }
    }
}
