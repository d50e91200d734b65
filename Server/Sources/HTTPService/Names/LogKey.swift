import Logging

/// The keys that log metadata may have. The log handler drops every other key, so that nothing reaches a log by accident.
///
/// None of them ever holds a secret, content, or more than 6 characters of a device token.
public enum LogKey: String, Sendable, CaseIterable {
    // One request
    case requestID = "request-id"
    case method
    case route
    case status
    case durationMilliseconds = "duration-ms"
    case remoteAddress = "remote"
    // What went wrong
    case errorCode = "error-code"
    case errorDetail = "error-detail"
    case errorType = "error-type"
    // Objects
    case user
    case richID = "rich-id"
    case notificationID = "notification-id"
    case installationID = "installation-id"
    case recordID = "record-id"
    case deviceToken = "device-token"
    case hub
    case slice
    case count
    // Delivery
    case outcome
    case reason
    case apnsID = "apns-id"
    case environment
    case topic
    case keyID = "key-id"
    case attempt
    case delayMilliseconds = "delay-ms"
    case connection
    // The process
    case address
    case port
    case path
    case component
    case schemaVersion = "schema-version"
    case setting
    case version
    case check
}

extension Logger.Metadata {
    /// Metadata under a key of the list.
    public subscript(key: LogKey) -> Logger.MetadataValue? {
        get { self[key.rawValue] }
        set { self[key.rawValue] = newValue }
    }
}
