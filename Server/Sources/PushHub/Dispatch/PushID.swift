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
        self.init(notification: notification, target: Naming.target(handle))
    }

    private init(notification: NotificationID, target: String) {
        self = Naming(notification).id(of: target)
    }

    /// Of the first sixteen bytes of a digest, with the marks of version and variant (RFC 9562, 5.5).
    fileprivate init(digest bytes: UnsafeRawBufferPointer) {
        uuid = UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6] & 0x0F | 0x50, bytes[7],
                bytes[8] & 0x3F | 0x80, bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}

extension PushID {
    /// Makes the ids of one notification's pushes, for many targets at once.
    struct Naming {
        private let start: [UInt8]

        init(_ notification: NotificationID) { start = Array(notification.text.utf8) + [0] }

        /// The ids of the targets at these places, in that order.
        func ids(of page: TargetPage, _ places: [Int]) -> [PushID] {
            var ids: [PushID] = []
            ids.reserveCapacity(places.count)
            var lanes = SHA1Lanes(start: start)
            for place in places {
                let isTaken = page.withRecordBytes(place) { name in
                    if lanes.add(name) { return true }
                    // Full, or of another length than those that wait.
                    lanes.drain { ids.append(PushID(digest: $0)) }
                    return lanes.add(name)
                }
                guard isTaken != true else { continue }
                lanes.drain { ids.append(PushID(digest: $0)) }
                ids.append(id(of: page.record(place)?.text ?? Self.target(page.handle(place))))
            }
            lanes.drain { ids.append(PushID(digest: $0)) }
            return ids
        }

        /// What stands for a handle in a send to handles: no record has such a name.
        fileprivate static func target(_ handle: DeviceHandle) -> String { "handle " + handle.text }

        fileprivate func id(of target: String) -> PushID {
            var hash = Insecure.SHA1()
            hash.update(data: start)
            hash.update(data: Array(target.utf8))
            return hash.finalize().withUnsafeBytes { PushID(digest: $0) }
        }
    }
}
