#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One push as the client sends it.
public struct APNsPush: Sendable {
    /// The device token: an even number of hexadecimal digits.
    public var token: APNsDeviceToken
    public var headers: Headers
    /// The JSON body, shared between pushes without copying.
    public var payload: [UInt8]
    /// The `apns-id`; absent lets APNs make one.
    public var apnsID: UUID?
    /// What is known of the device token; never sent.
    public var standing: Standing

    /// Creates a push.
    public init(
        token: APNsDeviceToken, headers: Headers, payload: [UInt8], apnsID: UUID? = nil, standing: Standing = .ordinary
    ) {
        self.token = token
        self.headers = headers
        self.payload = payload
        self.apnsID = apnsID
        self.standing = standing
    }
}

extension APNsPush {
    /// Creates a push to a token that is a text.
    public init(
        deviceToken: String, headers: Headers, payload: [UInt8], apnsID: UUID? = nil, standing: Standing = .ordinary
    ) {
        self.init(
            token: APNsDeviceToken(deviceToken), headers: headers, payload: payload, apnsID: apnsID, standing: standing)
    }

    /// The device token as a text.
    public var deviceToken: String {
        get { token.text }
        set { token = APNsDeviceToken(newValue) }
    }
}
