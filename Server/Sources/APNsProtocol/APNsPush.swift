#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One push as the client sends it.
public struct APNsPush: Sendable {
    /// The device token: an even number of hexadecimal digits.
    public var deviceToken: String
    public var headers: Headers
    /// The JSON body, shared between pushes without copying.
    public var payload: [UInt8]
    /// The `apns-id`; absent lets APNs make one.
    public var apnsID: UUID?
    /// What is known of the device token; never sent.
    public var standing: Standing

    /// Creates a push.
    public init(
        deviceToken: String, headers: Headers, payload: [UInt8], apnsID: UUID? = nil, standing: Standing = .ordinary
    ) {
        self.deviceToken = deviceToken
        self.headers = headers
        self.payload = payload
        self.apnsID = apnsID
        self.standing = standing
    }
}
