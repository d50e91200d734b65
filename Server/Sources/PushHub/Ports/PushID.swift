import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The `apns-id` of a push: UUID version 5 of notification and target, so that a repeat carries the same id.
public struct PushID: Hashable, Sendable {
    public let uuid: UUID

    /// Creates an id from a UUID.
    public init(_ uuid: UUID) { self.uuid = uuid }

    /// The id of the push of this notification to this record (RFC 9562, 5.5; name space: the notification).
    public init(notification: NotificationID, record: RecordID) { self.init(notification: notification, target: record.text) }

    /// The id of the push of this notification to this handle, in a send to handles.
    public init(notification: NotificationID, handle: DeviceHandle) {
        self.init(notification: notification, target: "handle " + handle.text)
    }

    private init(notification: NotificationID, target: String) {
        var hash = Insecure.SHA1()
        hash.update(data: Array(notification.text.utf8))
        hash.update(data: [0])
        hash.update(data: Array(target.utf8))
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        uuid = UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
                bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}
