import Synchronization

/// The stored picture of the tutorial's send, once the composition has set it.
final class DefaultPicture: Sendable {
    private let stored = Mutex<ContentRecord?>(nil)

    var record: ContentRecord? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
