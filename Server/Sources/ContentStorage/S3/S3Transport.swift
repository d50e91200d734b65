import AsyncHTTPClient
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

/// Carries one request to a store and brings the beginning of its answer.
protocol S3Transport: Sendable {
    /// Throws `S3Fault`, or `CancellationError`. The time is that until the head of the answer; a body that stands still for long
    /// ends with an error by itself.
    func exchange(_ request: HTTPClientRequest, within time: Duration) async throws -> HTTPClientResponse

    /// Closes the connections.
    func shutDown() async
}

/// The transport over connections that are kept.
struct S3HTTPTransport: S3Transport {
    private let client: HTTPClient

    init(_ options: S3Options, group: any EventLoopGroup) throws(ServiceError) {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try Self.tls(options)
        // What is signed for one host must not be carried to another.
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = TimeAmount(options.connectDeadline)
        configuration.timeout.read = TimeAmount(options.silenceDeadline)
        configuration.timeout.write = TimeAmount(options.silenceDeadline)
        // Repeating is decided above, where it is counted.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.connections
        configuration.httpVersion = .http1Only
        client = HTTPClient(eventLoopGroup: group, configuration: configuration)
    }

    func exchange(_ request: HTTPClientRequest, within time: Duration) async throws -> HTTPClientResponse {
        do { return try await client.execute(request, timeout: TimeAmount(time)) } catch { throw Self.fault(of: error) }
    }

    func shutDown() async { try? await client.shutdown() }

    private static func tls(_ options: S3Options) throws(ServiceError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        guard let path = options.trustRootsPath else { return tls }
        do {
            tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(path))]
        } catch {
            throw ServiceError(.notReady, "the certificates of s3-trust-roots-path cannot be read")
        }
        return tls
    }

    /// What an error of the client means; also for one that comes while a body is read.
    static func fault(of error: any Error) -> any Error {
        switch error {
        case is S3Fault, is CancellationError: return error
        case is NIOConnectionError: return S3Fault.unreachable("nothing answers there")
        case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode):
            return S3Fault.unreachable("nothing answers there")
        case let error as HTTPClientError where error == .cancelled: return CancellationError()
        case let error as HTTPClientError where [.connectTimeout, .tlsHandshakeTimeout].contains(error):
            return S3Fault.unreachable("no connection came about in time")
        case let error as HTTPClientError where [.deadlineExceeded, .readTimeout, .writeTimeout].contains(error):
            return S3Fault.timedOut
        case is NIOSSLError, is NIOSSLExtraError: return S3Fault.unreachable("its certificate is not trusted")
        case is NIOTooManyBytesError: return S3Fault.malformed("it is too long")
        default: return S3Fault.broken
        }
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(max(1, max(0, seconds) * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
