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
        private static let finishTimeout: Duration = .seconds(25)

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
            // Downloads in progress lie in the group's folder, as everything fetched does; the system refuses the name of a group that
            // the app is not in.
            if SharedFolder.inGroup(appGroup) != nil { configuration.sharedContainerIdentifier = appGroup }
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        /// Starts a download; does nothing for a content that is being downloaded.
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

        /// Cancels all downloads, from earlier launches too: they were for a user who has signed out.
        func cancel() { delegate.cancelAll(of: session) }

        /// Takes in what the system downloaded, and calls `done` when all of it is in the cache or the timeout is over.
        func finish(then done: OneShot<Void>) {
            delegate.whenFinished(done)?()
            _ = session
            let clock = clock
            Task {
                try? await clock.sleep(for: Self.finishTimeout)
                done()
            }
        }
    }

    /// Called by the system on a queue of its own.
    ///
    /// `@unchecked` is safe: what changes is only touched inside the lock.
    final class BackgroundDownloadDelegate: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
        private let engine: RichPushEngine
        private let maximumBytes: Int64
        private let log: any EventLog
        private let lock = NSLock()
        private var underWay: Set<RichID> = []
        private var adoptions: [UUID: Task<Void, Never>] = [:]
        private var done: OneShot<Void>?

        init(engine: RichPushEngine, maximumBytes: Int64, log: any EventLog) {
            self.engine = engine
            self.maximumBytes = maximumBytes
            self.log = log
        }

        /// Whether it was not under way; it is then.
        func begin(_ id: RichID) -> Bool { lock.withLock { underWay.insert(id).inserted } }

        func end(_ id: RichID) { _ = lock.withLock { underWay.remove(id) } }

        /// Ends every download, also those that an earlier launch of the app began.
        func cancelAll(of session: URLSession) {
            session.getAllTasks { tasks in
                for task in tasks { task.cancel() }
            }
        }

        /// Keeps the system's block, and returns the one that it replaces: that has to be called too.
        func whenFinished(_ done: OneShot<Void>) -> OneShot<Void>? {
            lock.withLock {
                defer { self.done = done }
                return self.done
            }
        }

        /// Checks the size early: a file larger than any content is not downloaded to its end.
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            if max(totalBytesWritten, totalBytesExpectedToWrite) > maximumBytes { downloadTask.cancel() }
        }

        /// The file is gone when this returns, so it is moved first and checked afterwards.
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            guard let id = downloadTask.taskDescription.flatMap({ RichID($0) }) else { return }
            take(location, of: id, status: (downloadTask.response as? HTTPURLResponse)?.statusCode)
        }

        func take(_ location: URL, of id: RichID, status: Int?) {
            guard status == 200, let kept = engine.newDownloadFile(),
                (try? FileManager.default.moveItem(at: location, to: kept)) != nil
            else { return fail(id, "bad-answer") }
            let (engine, number) = (engine, UUID())
            // Noted before it can end, since its end takes the lock too.
            lock.withLock {
                adoptions[number] = Task {
                    do throws(RichPushError) {
                        try await engine.takeDownload(kept, of: id)
                    } catch {
                        self.fail(id, error.code)
                    }
                    _ = self.lock.withLock { self.adoptions.removeValue(forKey: number) }
                }
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let id = task.taskDescription.flatMap({ RichID($0) }) else { return }
            end(id)
            if error != nil { fail(id, "download-ended") }
        }

        private func fail(_ id: RichID, _ reason: String) {
            log.record(DeviceEvent(.fetchFailed, id, ["reason": reason, "variant": "background"]))
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            let (adoptions, done) = lock.withLock {
                defer { self.done = nil }
                return (Array(self.adoptions.values), self.done)
            }
            Task { @MainActor in
                for adoption in adoptions { await adoption.value }
                done?()
            }
        }
    }
#endif
