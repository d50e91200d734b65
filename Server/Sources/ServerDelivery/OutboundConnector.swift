import APNsHTTP2
import APNsProtocol
import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import RichPushModel
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Makes HTTP clients for URLs that another party gave. It looks a host up itself, refuses it when any of its addresses is not allowed, and
/// pins the client to an address that it has looked at, whatever the name stands for a moment later.
package struct OutboundConnector: Sendable {
    private let rule: OutboundRule
    private let clock: any ServiceClock
    private let group: any EventLoopGroup
    private let tls: TLSConfiguration
    /// The same for clients of HTTP/2.
    package let trust: APNsClientConfiguration.Trust
    /// Lookups wait for a name server and cannot be ended, so they have threads of their own.
    private let lookups = NIOThreadPool(numberOfThreads: 4)

    /// Creates a connector.
    ///
    /// - Parameter trustRoots: a file of certificates that vouch for servers besides the system's, and the setting that names it.
    /// - Throws: `not-ready` when the file cannot be read.
    package init(
        allowing rule: OutboundRule, trustRoots: (path: String, setting: String)?, clock: any ServiceClock,
        group: any EventLoopGroup
    ) throws(ServiceError) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        var trust = APNsClientConfiguration.Trust.system
        if let (path, setting) = trustRoots {
            do {
                let pem = try String(contentsOfFile: path, encoding: .utf8)
                tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))]
                trust = .additional(pem: pem)
            } catch { throw ServiceError(.notReady, "\(setting): the certificates in \(path) cannot be read") }
        }
        self.rule = rule
        self.clock = clock
        self.group = group
        (self.tls, self.trust) = (tls, trust)
    }

    /// Starts the threads for lookups.
    package func start() { lookups.start() }

    /// Ends them. A lookup that a name server keeps waiting is not waited for.
    package func shutDown() { lookups.shutdownGracefully { _ in } }

    /// A client for one host, which the caller shuts down. It follows no redirect.
    ///
    /// - Parameters:
    ///   - width: how many connections it has at most where the server speaks no HTTP/2.
    ///   - deadline: how long a lookup may take.
    package func client(
        for address: OutboundAddress, width: Int, within deadline: Duration
    ) async throws(OutboundRefusal) -> HTTPClient {
        client(for: address, at: try await self.address(for: address, within: deadline), width: width)
    }

    /// An IP address of a host that has no other ones than those that are allowed.
    ///
    /// The system puts addresses that this machine cannot reach last, so it is one of the family of the first.
    ///
    /// - Parameter deadline: how long a lookup may take.
    package func address(
        for address: OutboundAddress, within deadline: Duration
    ) async throws(OutboundRefusal) -> String {
        guard let found = await addresses(of: address.host, within: deadline), let first = found.first,
            let chosen = found.filter({ $0.contains(":") == first.contains(":") }).randomElement()
        else { throw .noAddress }
        for one in found {
            if let reason = rule.refusal(of: one, for: address) { throw .notAllowed(reason) }
        }
        return chosen
    }

    /// A client for one host at an IP address that was looked at.
    package func client(
        for address: OutboundAddress, at chosen: String, width: Int, version: HTTPClient.Configuration.HTTPVersion = .automatic
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = version
        configuration.tlsConfiguration = tls
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = width
        configuration.dnsOverride = [address.host: chosen]
        return HTTPClient(eventLoopGroup: group, configuration: configuration)
    }

    /// Every address of a host; `nil` when there is none, or when no name server answers in time.
    private func addresses(of host: String, within deadline: Duration) async -> [String]? {
        let (results, continuation) = AsyncStream.makeStream(of: [String].self, bufferingPolicy: .bufferingNewest(1))
        lookups.submit { state in
            // Where no name server answers, lookups queue up. One that its caller has given up takes no more time from the next.
            if state == .active, case .enqueued = continuation.yield([]) { continuation.yield(Self.lookUp(host)) }
            continuation.finish()
        }
        return await clock.attempt(within: deadline, orElse: nil) { await results.first { !$0.isEmpty } }
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

/// Why there is no client for a URL.
package enum OutboundRefusal: Error, Hashable, Sendable {
    case noAddress
    /// The rule does not allow an address of the host.
    case notAllowed(String)

    package var reason: String {
        switch self {
        case .noAddress: "the host has no address"
        case .notAllowed(let reason): reason
        }
    }
}

/// Why a request got no answer. Nothing of an error of the client is kept but its kind.
package enum OutboundFailure: Hashable, Sendable {
    case unreachable, untrusted, late, broken
    /// Every connection that may be open was in use for too long.
    case busy
    /// The receiver refused to process the request.
    case notProcessed

    package init(_ error: any Error) {
        self =
            switch error {
            case is NIOConnectionError: .unreachable
            case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode): .unreachable
            case is NIOSSLExtraError: .untrusted
            case let error as NIOSSLError where Self.isOfHandshake(error): .untrusted
            case let error as HTTPClientError where error == .connectTimeout: .unreachable
            case let error as HTTPClientError where error == .getConnectionFromPoolTimeout: .busy
            case let error as HTTPClientError where [.deadlineExceeded, .readTimeout].contains(error): .late
            default: .broken
            }
    }

    /// The same of a client of HTTP/2.
    package init(of failure: APNsFailure) {
        self =
            switch failure {
            case .unreachable, .nameNotResolved: .unreachable
            case .tlsFailed: .untrusted
            case .deadline: .late
            case .queueFull: .busy
            case .refusedStream: .notProcessed
            default: .broken
            }
    }

    /// Other errors of TLS, such as an end without a close message, come when the request may have arrived.
    private static func isOfHandshake(_ error: NIOSSLError) -> Bool {
        switch error {
        case .handshakeFailed, .noCertificateToValidate, .unableToValidateCertificate: true
        default: false
        }
    }

    /// Whether the request provably did not leave.
    package var isBeforeSending: Bool { isOutOfReach || self == .busy }

    /// Whether another address of the host may be better.
    package var isOutOfReach: Bool { self == .unreachable || self == .untrusted }

    /// A sentence for a person. `late` says what the time was.
    package func reason(late: String) -> String {
        switch self {
        case .unreachable: "nothing answers at the address"
        case .untrusted: "the receiver's certificate is not trusted"
        case .late: late
        case .broken: "the connection broke"
        case .busy: "no connection to the receiver became free"
        case .notProcessed: "the receiver refused to process the request"
        }
    }
}

extension ServiceClock {
    /// What the work gives, or `late` when the time is over first. The work then ends with its task.
    package func attempt<Result: Sendable>(
        within deadline: Duration, orElse late: Result, _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        await withTaskGroup(of: Result.self) { group in
            group.addTask(operation: work)
            group.addTask {
                try? await sleep(for: deadline)
                return late
            }
            defer { group.cancelAll() }
            return await group.next() ?? late
        }
    }
}
