#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Hears from the system on a queue of its own.
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

        /// Keeps the system's block, and returns one that it gave before: that is to be answered too.
        func whenFinished(_ done: OneShot<Void>) -> OneShot<Void>? {
            lock.withLock {
                defer { self.done = done }
                return self.done
            }
        }

        /// Size before use: what is larger than any content is not stored to its end.
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            if max(totalBytesWritten, totalBytesExpectedToWrite) > maximumBytes { downloadTask.cancel() }
        }

        /// The file is gone when this returns, so it is moved first and looked at then.
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
