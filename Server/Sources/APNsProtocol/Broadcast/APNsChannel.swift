/// A broadcast channel of one app in one environment (Reference/APNs.md#5-1). Only Live Activities have channels.
public struct APNsChannel: Hashable, Sendable {
    /// The name that APNs chose: base64 of a length that is not promised. It never comes back after the channel is deleted.
    public struct ID: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String

        /// Takes an id as it came from APNs.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What APNs keeps for phones that are away. Fixed when the channel is made.
    public enum StoragePolicy: Int, Hashable, Sendable, Codable, CaseIterable {
        /// Nothing; in exchange for a larger budget. Broadcasts must have expiration 0.
        case none = 0
        /// The newest message, for at most 8 hours.
        case mostRecentMessage = 1
    }

    public var id: ID
    public var storagePolicy: StoragePolicy

    /// Creates a description of a channel.
    public init(id: ID, storagePolicy: StoragePolicy) {
        self.id = id
        self.storagePolicy = storagePolicy
    }
}

extension APNsChannel.ID: CustomStringConvertible {
    public var description: String { rawValue }

    /// Whether it can be a channel's id: base64 and of a length that a header can carry.
    public var isWellFormed: Bool {
        (1...512).contains(rawValue.utf8.count)
            && rawValue.utf8.allSatisfy { byte in
                byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "+/=-_".utf8.contains(byte)
            }
    }
}
