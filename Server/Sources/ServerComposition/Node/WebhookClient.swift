import AppBackend
import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import RichPushModel
import ServerSettings
import ServiceErrors
import SharedAccess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Connects to webhooks. A caller that manages webhooks chooses where they go, so the server looks a host up itself, refuses it when any of its
/// addresses is not allowed, and connects to an address that it has looked at, whatever the name stands for a moment later.
struct WebhookClient: WebhookTransport {
    private let networks: [AddressRange]
    private let clock: any ServiceClock
    private let group: any EventLoopGroup
    private let tls: TLSConfiguration
    /// Lookups wait for a name server and cannot be ended, so they have threads of their own.
    private let lookups = NIOThreadPool(numberOfThreads: 4)

    /// Creates a client. `trustRootsPath` names certificates that vouch for receivers besides the system's. Throws `not-ready` when they
    /// cannot be read.
    init(
        allowing networks: [AddressRange], trustRootsPath: String?, clock: any ServiceClock, group: any EventLoopGroup
    ) throws(ServiceError) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let trustRootsPath {
            do { tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(trustRootsPath))] } catch {
                throw ServiceError(.notReady, "webhook-trust-roots-path: the certificates in \(trustRootsPath) cannot be read")
            }
        }
        self.networks = networks
        self.clock = clock
        self.group = group
        self.tls = tls
    }

    /// Starts the threads for lookups.
    func start() { lookups.start() }

    /// Ends them.
    func shutDown() async { try? await lookups.shutdownGracefully() }

    func connect(to address: WebhookAddress) async -> any WebhookConnection {
        guard let found = await addresses(of: address.host), let chosen = found.randomElement() else {
            return RefusedConnection(reason: "the host has no address")
        }
        for one in found {
            if let refusal = address.refusal(of: one, allowing: networks) { return RefusedConnection(reason: refusal) }
        }
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = tls
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = WebhookDispatcher.width
        configuration.dnsOverride = [address.host: chosen]
        return PinnedConnection(
            client: HTTPClient(eventLoopGroup: group, configuration: configuration), address: address, clock: clock)
    }

    /// Every address of a host; `nil` when there is none, or when no name server answers in time.
    private func addresses(of host: String) async -> [String]? {
        let (results, continuation) = AsyncStream.makeStream(of: [String].self, bufferingPolicy: .bufferingNewest(1))
        lookups.submit { state in
            if state == .active { continuation.yield(Self.lookUp(host)) }
            continuation.finish()
        }
        let found = await clock.attempt(orElse: nil) { await results.first { _ in true } }
        return found.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func lookUp(_ host: String) -> [String] {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        return sequence(first: first) { $0?.pointee.ai_next }.compactMap { entry -> String? in
            guard let entry, let address = entry.pointee.ai_addr else { return nil }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard getnameinfo(address, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
                return nil
            }
            return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        }
    }
}

/// Connections to one address of a host.
private struct PinnedConnection: WebhookConnection {
    /// The most bytes of an answer that are read, and those of them that are kept.
    private static let answerBytes = 16_384
    private static let keptBytes = 1_024

    let client: HTTPClient
    let address: WebhookAddress
    let clock: any ServiceClock

    func post(_ message: WebhookMessage) async -> WebhookReply {
        await clock.attempt(orElse: .unreachable(Self.late)) {
            do { return try await exchange(message) } catch { return .unreachable(Self.reason(of: error)) }
        }
    }

    func close() async { try? await client.shutdown() }

    private func exchange(_ message: WebhookMessage) async throws -> WebhookReply {
        var request = HTTPClientRequest(url: address.url)
        request.method = .POST
        for header in message.headers { request.headers.add(name: header.name, value: header.value) }
        request.headers.add(name: "user-agent", value: "Clarion/\(ClarionVersion.current)")
        request.body = .bytes(ByteBuffer(bytes: message.body))
        let answer = try await client.execute(request, timeout: .seconds(WebhookDispatcher.attemptTime.components.seconds))
        // An answer that is longer is no reason to try again.
        let body = (try? await answer.body.collect(upTo: Self.answerBytes)) ?? ByteBuffer()
        return .status(
            Int(answer.status.code), retryAfter: answer.headers.first(name: "retry-after").flatMap { Int($0) },
            text: String(decoding: body.readableBytesView.prefix(Self.keptBytes), as: UTF8.self).filter { $0 != "\0" })
    }

    private static let late = "no answer within \(WebhookDispatcher.attemptTime.components.seconds) seconds"

    /// Nothing of an error of the client is kept but its kind.
    private static func reason(of error: any Error) -> String {
        switch error {
        case is NIOConnectionError: "nothing answers at the address"
        case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode):
            "nothing answers at the address"
        case is NIOSSLError, is NIOSSLExtraError: "the receiver's certificate is not trusted"
        case let error as HTTPClientError where [.deadlineExceeded, .readTimeout, .connectTimeout].contains(error): late
        default: "the connection broke"
        }
    }
}

extension ServiceClock {
    /// What the work gives, or `late` when the time of an attempt is over first. The work then ends with its task.
    fileprivate func attempt<Result: Sendable>(
        orElse late: Result, _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        await withTaskGroup(of: Result.self) { group in
            group.addTask(operation: work)
            group.addTask {
                try? await sleep(for: WebhookDispatcher.attemptTime)
                return late
            }
            defer { group.cancelAll() }
            return await group.next() ?? late
        }
    }
}

/// In place of a connection that may not be made.
private struct RefusedConnection: WebhookConnection {
    let reason: String

    func post(_ message: WebhookMessage) async -> WebhookReply { .unreachable(reason) }

    func close() async {}
}
