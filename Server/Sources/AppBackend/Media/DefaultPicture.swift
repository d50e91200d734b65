import Synchronization

/// The stored picture of the rich push tutorial's send, once the composition has set it.
///
/// Another node may have another picture, after a change of the settings that has not reached this one: then only the sends name the bytes
/// of this one's, and they may be removed once they are an hour old (`BackendSweep.freshness`). So they are stored again from time to
/// time, before a send names them.
final class DefaultPicture: Sendable {
    /// The age at which the bytes are stored again.
    static let renewal: Duration = .seconds(1200)
    /// The age from which on no send names them before that is done.
    static let deadline: Duration = .seconds(2400)

    /// What a send does with the picture.
    enum Use {
        case take(ContentRecord)
        /// Store the bytes again, then say how that went. A failure can wait unless it is `isDue`.
        case renew(ContentRecord, bytes: [UInt8], isDue: Bool)
    }

    private struct Kept {
        var record: ContentRecord
        var bytes: [UInt8]
        var storedAt: Duration
        var isBeingRenewed = false
    }

    private let kept = Mutex<Kept?>(nil)

    /// Sets the picture, whose bytes were stored at that uptime or later.
    func set(_ record: ContentRecord, bytes: [UInt8], storedAt uptime: Duration) {
        kept.withLock { $0 = Kept(record: record, bytes: bytes, storedAt: uptime) }
    }

    /// What to do at that uptime; `nil` without a picture. Of many at a time one renews, as long as the others can go on without.
    func use(at uptime: Duration) -> Use? {
        kept.withLock { kept -> Use? in
            guard let picture = kept else { return nil }
            let age = uptime - picture.storedAt
            let isDue = age >= Self.deadline
            guard isDue || (age >= Self.renewal && !picture.isBeingRenewed) else { return .take(picture.record) }
            kept?.isBeingRenewed = true
            return .renew(picture.record, bytes: picture.bytes, isDue: isDue)
        }
    }

    /// The bytes were stored again at that uptime or later; `nil` when that failed.
    func renewed(at uptime: Duration?) {
        kept.withLock { kept in
            kept?.isBeingRenewed = false
            if let uptime, let last = kept?.storedAt { kept?.storedAt = max(uptime, last) }
        }
    }
}
