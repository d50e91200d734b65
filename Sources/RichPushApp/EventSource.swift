#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice

    /// Hands every event to each who listens.
    ///
    /// `@unchecked` is safe: what changes is only touched inside the lock.
    final class EventSource: EventLog, @unchecked Sendable {
        private let lock = NSLock()
        private let relay: (any EventLog)?
        private var listeners: [UUID: AsyncStream<DeviceEvent>.Continuation] = [:]

        init(relay: (any EventLog)? = nil) { self.relay = relay }

        func record(_ event: DeviceEvent) {
            relay?.record(event)
            let listeners = lock.withLock { Array(self.listeners.values) }
            for listener in listeners { listener.yield(event) }
        }

        func stream() -> AsyncStream<DeviceEvent> {
            let (stream, continuation) = AsyncStream.makeStream(of: DeviceEvent.self, bufferingPolicy: .bufferingNewest(256))
            let id = UUID()
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
            lock.withLock { listeners[id] = continuation }
            return stream
        }

        private func remove(_ id: UUID) { _ = lock.withLock { listeners.removeValue(forKey: id) } }
    }
#endif
