import PushHub

/// Names for registrations that have none yet.
enum RegistrationName {
    /// Two random numbers of 63 bits and a 1: the shape that clients have seen (Reference/AzureNotificationHubs.md#2-1).
    static func random() -> String { "\(number())-\(number())-1" }

    /// The same as an id of the hub.
    static func randomID() -> RecordID {
        guard let id = RecordID(random()) else { preconditionFailure("digits and hyphens are an id") }
        return id
    }

    private static func number() -> Int64 { Int64.random(in: 0...(.max)) }
}
