#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Downloads that go on while the app is suspended or not running, for content that takes longer than a tap can wait.
    ///
    /// The system keeps them under one identifier and relaunches the app when they have ended; the session is then made again
    /// under that identifier (Reference/IOSClient.md#3).
    @MainActor
    final class BackgroundDownloads {
        /// The name of the app's session; an app has one client, so it has one session.
        nonisolated static let identifier = "org.clarion.richpush.downloads"
        /// How long the system waits for what it has downloaded; it gives some 30 seconds (Reference/IOSClient.md#3).
        private static let patience: Duration = .seconds(25)

        private let engine: RichPushEngine
        private let clock: any ServiceClock
        private let appGroup: String?
        let delegate: BackgroundDownloadDelegate
        private(set) lazy var session = makeSession()

        init(engine: RichPushEngine, configuration: RichPushConfiguration, clock: any ServiceClock, log: any EventLog) {
            self.engine = engine
            self.clock = clock
            appGroup = configuration.appGroup
            delegate = BackgroundDownloadDelegate(
                engine: engine, maximumBytes: configuration.limits.maximumContentBytes, log: log)
        }

        private func makeSession() -> URLSession {
            let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
            configuration.sessionSendsLaunchEvents = true
            configuration.isDiscretionary = false
            // What is under way lies in the group's folder, as all that is fetched does; the system refuses the name of a group
            // that the app is not in.
            if SharedFolder.inGroup(appGroup) != nil { configuration.sharedContainerIdentifier = appGroup }
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        /// Nothing happens for a content that is under way.
        func start(_ id: RichID) async throws(RichPushError) {
            guard delegate.begin(id) else { return }
            do throws(RichPushError) {
                let link = try await engine.downloadLink(for: id)
                let task = session.downloadTask(with: link)
                task.taskDescription = "\(id)"
                task.resume()
            } catch {
                delegate.end(id)
                throw error
            }
        }

        /// Ends what is under way, from earlier launches too: it was for a user who has signed out.
        func cancel() { delegate.cancelAll(of: session) }

        /// Takes up what the system downloaded, and tells it when all of that is in the cache, or when it waited long enough.
        func finish(then done: OneShot<Void>) {
            delegate.whenFinished(done)?()
            _ = session
            let clock = clock
            Task {
                try? await clock.sleep(for: Self.patience)
                done()
            }
        }
    }
#endif
