import AsyncHTTPClient
import HubProtocol
import NIOCore
import NIOPosix
import NIOSSL
import ServiceErrors

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One request as it goes out.
struct HubRequest: Hashable, Sendable {
    var method: String
    var url: String
    var headers: HeaderList
    var body: [UInt8]
}

/// One answer as it came.
struct HubResponse: Hashable, Sendable {
    var status: Int
    var headers: HeaderList = []
    var body: [UInt8] = []
}

/// Carries requests. Throws `TransportFault` only.
protocol HubTransport: Sendable {
    /// The answer to a request, read whole within the time.
    func exchange(_ request: HubRequest, within time: Duration) async throws -> HubResponse

    /// Closes the connections.
    func shutDown() async throws
}

/// Why there is no answer.
enum TransportFault: Error, Hashable {
    /// The request was certainly not sent.
    case unreachable(String)
    /// It may have been.
    case interrupted(String)
    /// An answer came that is larger than allowed.
    case answerTooLarge
}

/// Carries requests over HTTP/2 or HTTP/1.1, by TLS unless the address is of this machine.
final class HTTPClientTransport: HubTransport {
    private let client: HTTPClient
    private let answerBytes: Int

    init(_ options: RemoteHubOptions, group: any EventLoopGroup) throws(RemoteHubError) {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try Self.tls(options)
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(10)
        // Retries are decided here: the HTTP client does not know what may be sent twice.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.connections
        client = HTTPClient(eventLoopGroup: group, configuration: configuration)
        answerBytes = options.answerBytes
    }

    private static func tls(_ options: RemoteHubOptions) throws(RemoteHubError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        guard let path = options.trustRootsPath else { return tls }
        do {
            tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(path))]
        } catch { throw .invalidRequest("the certificates that vouch for the hub cannot be read") }
        return tls
    }

    func exchange(_ request: HubRequest, within time: Duration) async throws -> HubResponse {
        var message = HTTPClientRequest(url: request.url)
        message.method = .RAW(value: request.method)
        for field in request.headers.fields { message.headers.add(name: field.name, value: field.value) }
        for (name, value) in TraceContext.outgoingFields { message.headers.replaceOrAdd(name: name, value: value) }
        if !request.body.isEmpty || request.method == "POST" || request.method == "PUT" {
            message.body = .bytes(ByteBuffer(bytes: request.body))
        }
        do {
            let answer = try await client.execute(message, timeout: .init(time))
            let body = try await answer.body.collect(upTo: answerBytes)
            return HubResponse(
                status: Int(answer.status.code), headers: HeaderList(answer.headers.map { HeaderField($0.name, $0.value) }),
                body: Array(body.readableBytesView))
        } catch { throw Self.fault(of: error) }
    }

    func shutDown() async throws { try await client.shutdown() }

    private static func fault(of error: any Error) -> any Error {
        switch error {
        case is CancellationError: return error
        case is NIOTooManyBytesError: return TransportFault.answerTooLarge
        case let error as NIOConnectionError: return TransportFault.unreachable("nothing answers at \(error.host)")
        case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode):
            return TransportFault.unreachable("nothing answers at the hub's address")
        case let error as HTTPClientError where [.connectTimeout, .tlsHandshakeTimeout].contains(error):
            return TransportFault.unreachable("no connection to the hub came about in time")
        case let error as HTTPClientError where error == .cancelled: return CancellationError()
        case let error as HTTPClientError where [.deadlineExceeded, .readTimeout].contains(error):
            return TransportFault.interrupted("the hub did not answer in time")
        case is NIOSSLError, is NIOSSLExtraError: return TransportFault.unreachable("the hub's certificate is not trusted")
        default: return TransportFault.interrupted("the connection to the hub broke")
        }
    }
}

extension TimeAmount {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(max(1, seconds) &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }
}
