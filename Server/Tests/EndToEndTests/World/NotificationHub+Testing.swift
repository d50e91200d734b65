import RichPushModel

@testable import PushHub

extension NotificationHub {
    /// The records of a device token.
    func devices(withToken token: String) async throws -> [DeviceRecord] {
        guard let handle = DeviceToken(token, platform: .apns) else { return [] }
        return try await stores.devices.devices(with: handle, platform: .apns, in: id, limit: 10)
    }
}
