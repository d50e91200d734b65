/// Why something could not be kept or read on the device.
public enum StorageError: Error, Hashable, Sendable, Codable {
    /// The device was not unlocked since it started: nothing is readable, nothing may be deleted (Reference/IOSClient.md#5).
    case locked
    /// The session to which this belongs has ended, perhaps in another process. What is written now would outlive the sign-out.
    case sessionEnded
    /// The file system or the key chain refused.
    case failed
}
