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
    /// under that identifier (iOS client reference 3).
    @MainActor
    final class BackgroundDownloads {
        /// The name of the app's session; an app has one client, so it has one session.
        nonisolated static let identifier = "org.clarion.richpush.downloads"

        private let engine: RichPushEngine
        let delegate: BackgroundDownloadDelegate
        private lazy var session = makeSession()

        init(engine: RichPushEngine) {
            self.engine = engine
            delegate = BackgroundDownloadDelegate(engine: engine)
        }

        private func makeSession() -> URLSession {
            let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
            configuration.sessionSendsLaunchEvents = true
            configuration.isDiscretionary = false
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        func start(_ id: RichID) async throws(RichPushError) {
            let link = try await engine.downloadLink(for: id)
            let task = session.downloadTask(with: link)
            task.taskDescription = "\(id)"
            task.resume()
        }

        /// Takes up what the system downloaded, and tells it when all of that is in the cache.
        func finish(then done: OneShot<Void>) {
            delegate.whenFinished(done)
            _ = session
        }
    }

    /// Hears from the system on a queue of its own.
    ///
    /// `@unchecked` is safe: what changes is only touched inside the lock.
    final class BackgroundDownloadDelegate: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
        private let engine: RichPushEngine
        private let lock = NSLock()
        private var adoptions: [Task<Void, Never>] = []
        private var done: OneShot<Void>?

        init(engine: RichPushEngine) { self.engine = engine }

        func whenFinished(_ done: OneShot<Void>) { lock.withLock { self.done = done } }

        /// The file is gone when this returns, so it is moved first and looked at then.
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            let status = (downloadTask.response as? HTTPURLResponse)?.statusCode
            guard status == 200, let id = downloadTask.taskDescription.flatMap({ RichID($0) }) else { return }
            let kept = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            guard (try? FileManager.default.moveItem(at: location, to: kept)) != nil else { return }
            let engine = engine
            let adoption = Task { _ = try? await engine.takeDownload(kept, of: id) }
            lock.withLock { adoptions.append(adoption) }
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            let (adoptions, done) = lock.withLock {
                defer { (self.adoptions, self.done) = ([], nil) }
                return (self.adoptions, self.done)
            }
            Task { @MainActor in
                for adoption in adoptions { await adoption.value }
                done?()
            }
        }
    }
#endif
