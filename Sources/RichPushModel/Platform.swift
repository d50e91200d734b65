/// The push services a device can belong to, by the names of the hub protocol. Open for more.
public struct Platform: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: String

    /// Creates a platform name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Apple's push service, the one this version sends through.
    public static let apns = Platform(rawValue: "apns")
}
