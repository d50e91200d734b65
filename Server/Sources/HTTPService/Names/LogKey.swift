import Logging

/// The keys that log metadata may have. The log handler drops every other key, so that nothing reaches a log by accident.
///
/// Modules on lower floors write the same words as text; a test reads their sources and fails for a word that is not here.
/// None of them ever holds a secret, content, or more than 6 characters of a device token.
public enum LogKey: String, Sendable, CaseIterable {
    // One request
    case requestID = "request_id"
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
    case notificationID = "notification_id"
    case installationID = "installation_id"
    case record
    /// What caused a change, for example the record that replaced another.
    case by
    case token
    case hub
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
}

extension Logger.Metadata {
    /// Metadata under a key of the list.
    public subscript(key: LogKey) -> Logger.MetadataValue? {
        get { self[key.rawValue] }
        set { self[key.rawValue] = newValue }
    }
}
