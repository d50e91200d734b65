#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The delegate of the session: finds the exchange of each callback and ends it once.
    ///
    /// `@unchecked` is safe: the one mutable value is only touched inside the lock.
    final class TransportExchanges: NSObject, @unchecked Sendable {
        typealias Completion = @Sendable (Result<TransportResponse, TransportError>) -> Void

        private let lock = NSLock()
        private var running: [Int: (exchange: TransportExchange, completion: Completion)] = [:]

        /// Starts a task that was not started yet.
        func start(_ task: URLSessionTask, _ exchange: TransportExchange, completion: @escaping Completion) {
            lock.withLock { running[task.taskIdentifier] = (exchange, completion) }
            task.resume()
        }

        /// Runs `work` on the exchange of a task; `nil` when there is none any more.
        private func with<Value>(_ task: URLSessionTask, _ work: (inout TransportExchange) -> Value) -> Value? {
            lock.withLock {
                // Taken out and put back, so that a long body is not copied.
                guard var entry = running.removeValue(forKey: task.taskIdentifier) else { return nil }
                defer { running[task.taskIdentifier] = entry }
                return work(&entry.exchange)
            }
        }
    }

    extension TransportExchanges: URLSessionDataDelegate, URLSessionDownloadDelegate {
        /// The engine decides about redirects: it knows who may see the authorization header.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            if with(dataTask, { $0.receive(data) }) == false { dataTask.cancel() }
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            let largest = max(totalBytesWritten, totalBytesExpectedToWrite)
            let status = (downloadTask.response as? HTTPURLResponse)?.statusCode
            if with(downloadTask, { $0.reached(largest, status: status) }) == false { downloadTask.cancel() }
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
            _ = with(downloadTask) { $0.finished(at: location, status: status) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let entry = lock.withLock({ running.removeValue(forKey: task.taskIdentifier) }) else { return }
            var exchange = entry.exchange
            let response = task.response as? HTTPURLResponse
            exchange.status = response?.statusCode ?? 0
            entry.completion(exchange.outcome(error, headers: response?.allHeaderFields ?? [:]))
        }
    }
#endif
