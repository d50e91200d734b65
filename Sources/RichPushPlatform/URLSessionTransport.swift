#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The network through the system's `URLSession`: ephemeral, so that nothing of an answer is kept, without cookies, cache,
    /// stored credentials or redirects. It speaks https, and http to this machine only, whatever it is asked.
    package final class URLSessionTransport: HTTPTransport {
        let session: URLSession
        private let exchanges = TransportExchanges()

        /// `resourceTimeout` bounds any one exchange, also when the process sleeps in between.
        package init(resourceTimeout: Duration = .seconds(60)) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.timeoutIntervalForResource = resourceTimeout.inSeconds
            session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
        }

        deinit { session.invalidateAndCancel() }

        package func send(
            _ request: TransportRequest, maximumBytes: Int, deadline: Duration
        ) async throws(TransportError) -> TransportResponse {
            let task = session.dataTask(with: try Self.urlRequest(request, deadline: deadline))
            return try await run(task, TransportExchange(maximumBytes: Int64(maximumBytes), file: nil))
        }

        package func download(
            _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
        ) async throws(TransportError) -> TransportResponse {
            let task = session.downloadTask(with: try Self.urlRequest(request, deadline: deadline))
            return try await run(task, TransportExchange(maximumBytes: maximumBytes, file: file))
        }

        private func run(
            _ task: URLSessionTask, _ exchange: TransportExchange
        ) async throws(TransportError) -> TransportResponse {
            let exchanges = exchanges
            let outcome = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    exchanges.start(task, exchange) { continuation.resume(returning: $0) }
                }
            } onCancel: {
                task.cancel()
            }
            return try outcome.get()
        }

        private static func urlRequest(
            _ request: TransportRequest, deadline: Duration
        ) throws(TransportError) -> URLRequest {
            guard deadline > .zero else { throw .timedOut }
            guard (try? RichPushConfiguration(backend: request.url.origin)) != nil else { throw .unreachable }
            var made = URLRequest(
                url: request.url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: deadline.inSeconds)
            made.httpMethod = request.method
            made.httpShouldHandleCookies = false
            // Where the user wants less data to be used, and where data costs money (cellular, a hotspot).
            made.allowsConstrainedNetworkAccess = request.network == .any
            made.allowsExpensiveNetworkAccess = request.network != .inexpensive
            for (name, value) in request.headers { made.setValue(value, forHTTPHeaderField: name) }
            made.httpBody = request.body
            return made
        }
    }

    extension URL {
        /// The address without path, query and fragment.
        fileprivate var origin: URL {
            var parts = URLComponents()
            (parts.scheme, parts.host, parts.port) = (scheme, host, port)
            return parts.url ?? self
        }
    }

    extension Duration {
        /// For interfaces that count seconds as a floating-point number.
        package var inSeconds: TimeInterval {
            TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18
        }
    }

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

    /// One request under way: what came so far, and how it ends. A value, so that it needs no thread of its own.
    struct TransportExchange {
        /// The most bytes that are read of an answer other than the requested content.
        static let refusalLimit: Int64 = 64 << 10

        let maximumBytes: Int64
        /// Where the body of a 200 goes; `nil` keeps it in memory.
        let file: URL?
        var status = 0
        var body = Data()
        /// What the exchange itself decided, before the system reports the end that it caused.
        var failure: TransportError?
        /// Whether the rest of a download was not read. What that means is known when the status is.
        private var isCut = false

        init(maximumBytes: Int64, file: URL?) {
            self.maximumBytes = maximumBytes
            self.file = file
        }

        /// Takes a piece of the answer; `false` when it is too much, and the exchange is to be cancelled.
        mutating func receive(_ piece: Data) -> Bool {
            body.append(piece)
            guard Int64(body.count) > maximumBytes else { return true }
            failure = .tooLarge
            return false
        }

        /// Notes that a download has reached `count` bytes, in an answer of this status; `false` as above. The caller's limit is for
        /// the content. A refusal has its own limit, and the rest of it is cut off, since its status is enough.
        mutating func reached(_ count: Int64, status: Int?) -> Bool {
            let limit =
                switch status {
                case 200: maximumBytes
                case nil: max(maximumBytes, Self.refusalLimit)
                default: Self.refusalLimit
                }
            guard count > limit else { return true }
            isCut = true
            return false
        }

        /// Takes a finished download, which vanishes when this returns.
        mutating func finished(at location: URL, status: Int) {
            guard failure == nil, !isCut, let file else { return }
            guard status == 200 else {
                body = Self.beginning(of: location)
                return
            }
            do {
                let size = try FileManager.default.attributesOfItem(atPath: location.path)[.size] as? Int64 ?? 0
                guard size <= maximumBytes else { return failure = .tooLarge }
                try FileManager.default.moveItem(at: location, to: file)
            } catch {
                failure = .fileNotWritable
            }
        }

        /// How it ends.
        func outcome(_ error: (any Error)?, headers: [AnyHashable: Any]) -> Result<TransportResponse, TransportError> {
            if let failure { return .failure(failure) }
            if isCut, status == 200 || status == 0 { return .failure(.tooLarge) }
            if let error, !isCut { return .failure(Self.failure(error)) }
            guard status > 0 else { return .failure(.unreachable) }
            var named: [String: String] = [:]
            for (name, value) in headers { named["\(name)".lowercased()] = "\(value)" }
            return .success(TransportResponse(status: status, headers: named, body: body))
        }

        private static func beginning(of file: URL) -> Data {
            guard let handle = try? FileHandle(forReadingFrom: file) else { return Data() }
            defer { try? handle.close() }
            return (try? handle.read(upToCount: Int(refusalLimit))) ?? Data()
        }

        private static func failure(_ error: any Error) -> TransportError {
            switch (error as? URLError)?.code {
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case .cannotCreateFile, .cannotWriteToFile, .cannotMoveFile, .cannotOpenFile: .fileNotWritable
            default: .unreachable
            }
        }
    }
#endif
