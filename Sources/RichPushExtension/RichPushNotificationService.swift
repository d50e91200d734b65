#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UserNotifications

    /// The service extension of an app with rich push: an app only writes a subclass with a configuration.
    ///
    ///     final class NotificationService: RichPushNotificationService, @unchecked Sendable {
    ///         override class var configuration: RichPushConfiguration { .shop }
    ///     }
    ///
    /// The system shows the push as it came when the extension is too slow or dies, so everything here ends early. Nothing is
    /// done before the first push, no picture is decoded, and content goes to files (Reference/IOSClient.md#3).
    ///
    /// `@unchecked` is safe: what changes lies behind the lock.
    open class RichPushNotificationService: UNNotificationServiceExtension, @unchecked Sendable {
        /// What the extension may take of the about thirty seconds that the system gives it.
        private static let budget: Duration = .seconds(25)

        private let lock = NSLock()
        private var engine: EnrichmentEngine?
        private var pending: [PendingContent] = []

        /// The same configuration as in the app. Subclasses override it.
        open class var configuration: RichPushConfiguration {
            preconditionFailure("\(self) overrides the class variable `configuration`")
        }

        /// The language of the app that contains the extension.
        class var language: String { AppLanguage.current() }

        /// How long the expiry call waits for the best content so far.
        class var lastCall: DispatchTimeInterval { .milliseconds(500) }

        /// Makes the engine at the first push. The default uses the system's services; `nil` leaves every push as it is, which
        /// is what happens when the extension is not in the App Group.
        open func makeEngine() -> EnrichmentEngine? {
            let configuration = Self.configuration.inUsersLanguage(Self.language)
            return (try? DevicePorts.system(configuration, isForApp: false, log: SilentLog()))
                .map { EnrichmentEngine(configuration: configuration, device: $0) }
        }

        open override func didReceive(
            _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            guard let envelope = PushEnvelope(userInfo: request.content.userInfo), let engine = currentEngine() else {
                return contentHandler(request.content)
            }
            let content = PendingContent(original: request.content, handler: contentHandler)
            lock.withLock { pending.append(content) }
            let enrichment = EnrichmentRequest(
                identifier: request.identifier, envelope: envelope, original: NotificationContent(request.content))
            Task {
                content.deliver(await engine.enrich(enrichment, budget: Self.budget))
                self.forget(content)
            }
        }

        /// Called on a thread of the system shortly before the end. The best content so far is delivered now: after this returns the
        /// process may be stopped at any moment.
        open override func serviceExtensionTimeWillExpire() {
            let (engine, contents) = lock.withLock { (self.engine, self.pending) }
            guard let engine, !contents.isEmpty else { return }
            let settled = DispatchSemaphore(value: 0)
            Task {
                await engine.expire()
                settled.signal()
            }
            let end = DispatchTime.now() + Self.lastCall
            _ = settled.wait(timeout: end)
            for content in contents { content.waitOrDeliverOriginal(until: end) }
        }

        private func currentEngine() -> EnrichmentEngine? {
            lock.withLock {
                if engine == nil { engine = makeEngine() }
                return engine
            }
        }

        private func forget(_ content: PendingContent) { lock.withLock { pending.removeAll { $0 === content } } }
    }

    /// An extension has no log reader; what matters is in its receipts.
    private struct SilentLog: EventLog {
        func record(_ event: DeviceEvent) {}
    }
#endif
