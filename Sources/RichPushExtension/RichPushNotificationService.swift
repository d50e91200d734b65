#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UserNotifications

    /// The service extension of an app with rich push: an app only writes a subclass with a configuration.
    ///
    ///     final class NotificationService: RichPushNotificationService {
    ///         override class var configuration: RichPushConfiguration { .shop }
    ///     }
    ///
    /// The system shows the push as it came when the extension is too slow or dies, so everything here ends early. Nothing is
    /// done before the first push, no picture is decoded, and content goes to files (Reference/IOSClient.md#3).
    open class RichPushNotificationService: UNNotificationServiceExtension {
        /// What the extension may take of the about thirty seconds that the system gives it.
        private static let budget: Duration = .seconds(25)

        /// The system calls on threads of its own.
        private let lock = NSLock()
        private var engine: EnrichmentEngine?
        private let pending = PendingContents()

        /// The same configuration as in the app. Subclasses override it.
        open class var configuration: RichPushConfiguration {
            preconditionFailure("\(self) overrides the class variable `configuration`")
        }

        /// The language of the app that contains the extension.
        class var language: String { AppLanguage.current() }

        /// How long the expiry call waits for the best content so far.
        class var lastCall: DispatchTimeInterval { .milliseconds(500) }

        /// Makes the engine at the first push. The default uses the system's services; `nil` leaves every push as it is. That is
        /// what happens when the extension is not in the App Group, and the device's log says so.
        open func makeEngine() -> EnrichmentEngine? {
            let configuration = Self.configuration.inUsersLanguage(Self.language)
            do throws(StorageError) {
                let device = try DevicePorts.system(configuration, isForApp: false, log: SilentLog())
                return EnrichmentEngine(configuration: configuration, device: device)
            } catch {
                let isMember = SharedFolder.inGroup(configuration.appGroup) != nil
                NSLog(
                    "%@",
                    isMember
                        ? "RichPush: the extension cannot use its folder in the App Group"
                        : "RichPush: the configuration's App Group is not among the extension's entitlements")
                return nil
            }
        }

        open override func didReceive(
            _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            guard let envelope = PushEnvelope(userInfo: request.content.userInfo), let engine = currentEngine() else {
                return contentHandler(request.content)
            }
            let content = PendingContent(original: request.content, handler: contentHandler)
            let (pending, budget) = (pending, Self.budget)
            pending.add(content)
            let enrichment = EnrichmentRequest(
                identifier: request.identifier, envelope: envelope, original: NotificationContent(request.content))
            Task {
                content.deliver(await engine.enrich(enrichment, budget: budget))
                pending.remove(content)
            }
        }

        /// Called on a thread of the system shortly before the end. The best content so far is delivered now: after this returns the
        /// process may be stopped at any moment.
        open override func serviceExtensionTimeWillExpire() {
            let (engine, contents) = (lock.withLock { self.engine }, pending.all)
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
    }

    /// An extension has no log reader; what matters is in its receipts.
    private struct SilentLog: EventLog {
        func record(_ event: DeviceEvent) {}
    }
#endif
