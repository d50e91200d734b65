/// What APNs keeps of the broadcasts on a channel (Reference/APNs.md#5-1); fixed when the channel is created.
public enum ChannelPolicy: Int, Sendable, Hashable, CaseIterable, Codable {
    /// Nothing: who is not connected misses it. `apns-expiration` has to be 0.
    case none = 0
    /// The most recent broadcast, for at most eight hours.
    case mostRecent = 1
}
