import APNsProtocol

/// What a local APNs knows that outlasts a run: without it every device token of a client is `BadDeviceToken` after a restart.
///
/// Pushes that wait for a device, records, faults and rules are not part of it.
public struct KeptState: Sendable, Hashable, Codable {
    /// An app with its team.
    public struct App: Sendable, Hashable, Codable {
        var bundleID: String
        var teamID: String
        var broadcasts: Bool
    }

    /// The public half of a provider key.
    public struct Key: Sendable, Hashable, Codable {
        var teamID: String
        var keyID: String
        var publicKey: String
        var environment: String?
        var topics: [String]?
        var relatedKeyID: String?
    }

    /// A device token, dead ones too.
    public struct Token: Sendable, Hashable, Codable {
        var token: String
        var device: String
        var topic: String
        /// In milliseconds since 1970; absent while the token lives.
        var unregisteredSince: Int64?
        var expiredSince: Int64?
    }

    /// A broadcast channel with the devices that follow it.
    public struct Channel: Sendable, Hashable, Codable {
        var id: String
        var bundleID: String
        var policy: ChannelPolicy
        var devices: [String]
    }

    /// Whether there is nothing to keep.
    public var isEmpty: Bool {
        apps.isEmpty && keys.isEmpty && tokens.isEmpty && channels.isEmpty && revokedCertificates.isEmpty
    }

    /// The form of this document.
    static let presentVersion = 1

    var version = Self.presentVersion
    var apps: [App] = []
    var keys: [Key] = []
    var tokens: [Token] = []
    var channels: [Channel] = []
    var revokedCertificates: [String] = []
}
