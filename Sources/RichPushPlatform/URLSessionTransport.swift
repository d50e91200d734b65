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
#endif
