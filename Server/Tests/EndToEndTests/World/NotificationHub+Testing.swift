import PushHub
import RichPushModel

extension NotificationHub {
    /// The records of a device token.
    func devices(withToken token: String) async throws -> [DeviceRecord] {
        guard let handle = DeviceHandle(token, platform: .apns) else { return [] }
        return try await devices(with: handle, platform: .apns, limit: 10)
    }
}
