/// How a rich notification reaches the phone.
public enum DeliveryStyle: String, Sendable, Codable, CaseIterable {
    /// A background push; the app fetches and shows a local notification. iOS throttles these.
    case silent
    /// A visible push with `mutable-content`, enriched by the service extension. The default for new callers.
    case alert
    /// A visible push that also wakes the app.
    case both
}

/// What Apple may read of a rich notification.
public enum PreviewPolicy: String, Sendable, Codable, CaseIterable {
    /// Title and message travel in the push.
    case open
    /// Only the configured neutral text travels; title and message come with the content.
    case neutral
}
