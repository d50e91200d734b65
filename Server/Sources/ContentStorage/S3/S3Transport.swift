import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import ServiceErrors

/// Carries one request to a store and brings the beginning of its answer.
protocol S3Transport: Sendable {
    /// Throws `S3Fault`, or `CancellationError`. The time is that until the head of the answer; a body that stands still for long
    /// ends with an error by itself.
    func exchange(_ request: HTTPClientRequest, within time: Duration) async throws -> HTTPClientResponse

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

/// Why the store did not do what it was asked. Carries no key, no content, and nothing that the store wrote but its own code.
enum S3Fault: Error, Hashable {
    /// No connection came about, with the reason as the end of a sentence.
    case unreachable(String)
    case timedOut
    case broken
    /// The store refused. `code` is its error code, if it gave one.
    case refused(status: Int, code: String?, retryAfter: Int?)
    /// The answer is not what the protocol says.
    case malformed(String)
    /// More requests are under way than may be.
    case busy
}

extension S3Fault {
    /// Whether the same request may succeed a moment later.
    var isPassing: Bool {
        switch self {
        case .unreachable, .timedOut, .broken, .malformed: true
        case .refused(let status, let code, _):
            [429, 500, 502, 503, 504].contains(status) || (status != 412 && code.map(Self.passing.contains) ?? false)
        case .busy: false
        }
    }

    /// Whether the store says that there is nothing under the key.
    var isMissing: Bool {
        if case .refused(404, let code, _) = self { return code == nil || code == "NoSuchKey" || code == "NotFound" }
        return false
    }

    private static let passing: Set<String> = [
        "SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "Throttling", "OperationAborted",
        "XMinioServerNotInitialized",
    ]

    /// What happened, as a sentence for callers and operators.
    var sentence: String {
        switch self {
        case .unreachable(let reason): "the content store cannot be reached: \(reason)"
        case .timedOut: "the content store did not answer in time"
        case .broken: "the connection to the content store broke"
        case .malformed(let what): "the content store gave an answer that is none: \(what)"
        case .busy: "too many requests to the content store are under way"
        case .refused(let status, let code, _):
            "the content store refused with status \(status)\(code.map { " (\($0))" } ?? "")\(Self.hint(code, status).map { ": \($0)" } ?? "")"
        }
    }

    /// The error for the caller, who may retry now or when the operator has fixed the store.
    var serviceError: ServiceError {
        if self == .busy { return ServiceError(.overloaded, sentence, retryAfter: 1) }
        var wait = isPassing ? 5 : 30
        if case .refused(_, _, let asked?) = self { wait = min(max(wait, asked), 60) }
        return ServiceError(.storageUnavailable, sentence, retryAfter: wait)
    }

    /// What the operator should look at.
    private static func hint(_ code: String?, _ status: Int) -> String? {
        switch code {
        case "NoSuchBucket": "there is no such bucket; look at s3-bucket, s3-endpoint and s3-addressing"
        case "InvalidAccessKeyId": "it does not know the key; look at s3-key-id"
        case "SignatureDoesNotMatch": "the secret does not belong to the key; look at s3-secret and s3-region"
        // Some stores say no more of a key or a secret that is wrong (Ceph's, when it lends keys).
        case "AccessDenied", "AllAccessDisabled":
            "the key may not do that in this bucket, or is not known; look at its policy, s3-key-id and s3-secret"
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException", "InvalidRegionName":
            "the bucket is in another region; look at s3-region and s3-endpoint"
        case "ExpiredToken", "InvalidToken": "the key was lent and its time is over; look at s3-session-token"
        case "RequestTimeTooSkewed", "RequestExpired":
            "its clock and this server's, which is the database's where there is PostgreSQL, differ by more than 15 minutes"
        case "QuotaExceeded", "InsufficientCapacity", "XMinioStorageFull": "it is full"
        case nil where status == 404: "look at s3-bucket, s3-endpoint and s3-addressing"
        case nil where status == 403: "look at s3-key-id, s3-secret and the policy of the key"
        case nil where status == 301 || status == 307: "the bucket is elsewhere; look at s3-region and s3-endpoint"
        default: nil
        }
    }
}

/// Runs work at the store, whose faults become errors for the caller.
func explained<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch let fault as S3Fault { throw fault.serviceError }
}
