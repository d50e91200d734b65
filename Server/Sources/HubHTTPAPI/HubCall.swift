import HTTPService
import HTTPTypes
import HubProtocol
import Hummingbird
import NIOCore
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

/// A request of a client whose key has the needed right.
///
/// A class, because it is passed around a lot and copies would cost more than its use.
final class HubCall: Sendable {
    let request: Request
    let context: ServiceRequestContext
    let route: HubRoute
    let query: HubQuery
    /// Absent for the list of hubs and for a hub that does not exist.
    let served: ServedHub?
    let grant: AccessGrant
    /// Whether the key is one for all hubs.
    let isForAllHubs: Bool
    let options: HubHTTPOptions

    init(
        request: Request, context: ServiceRequestContext, route: HubRoute, query: HubQuery, served: ServedHub?,
        grant: AccessGrant, isForAllHubs: Bool, options: HubHTTPOptions
    ) {
        self.request = request
        self.context = context
        self.route = route
        self.query = query
        self.served = served
        self.grant = grant
        self.isForAllHubs = isForAllHubs
        self.options = options
    }

    var now: Timestamp { options.clock.now }
    var limits: HubLimits { options.limits }

    /// The hub. Throws `not-found` with the words that clients know.
    func hub() throws(ServiceError) -> NotificationHub {
        guard let served else { throw ServiceError(.notFound, "No service is hosted at the specified address.") }
        return served.hub
    }

    /// The record id in the path.
    func recordID() throws(ServiceError) -> RecordID {
        guard let id = route.id.flatMap({ RecordID($0) }) else {
            throw ServiceError(.invalidField, "an id has 1 to 256 characters of printable ASCII without blanks")
        }
        return id
    }

    /// Builds the URLs of the answer (Reference/AzureNotificationHubs.md#0-7).
    var location: LocationHeader { location(of: route) }

    /// The same for another route of this hub.
    func location(of route: HubRoute) -> LocationHeader {
        LocationHeader(
            authority: request.head.authority, fallback: options.publicHosts.first ?? "localhost", scheme: scheme, route: route,
            apiVersion: query.apiVersion)
    }

    /// The scheme that the client used. The JavaScript client takes the id out of an https address only, also when the
    /// application lets it speak plain HTTP (Reference/AzureNotificationHubs.md#1-1).
    private var scheme: String {
        isCalled("azsdk-js") ? "https" : options.origin.scheme(isSecure: request.cameOverTLS)
    }

    var authority: String { request.head.authority ?? options.publicHosts.first ?? "localhost" }

    /// Scheme and authority at which the sender of this request reaches this server.
    var origin: String { options.origin.base(for: authority, isSecure: request.cameOverTLS) }

    var headers: HeaderList {
        HeaderList(request.headers.map { HeaderField($0.name.rawName, $0.value) })
    }

    var ifMatch: IfMatch? { IfMatch(header: request.headers[.ifMatch]) }

    /// Whether a collection of exactly one header has to be left out: the JavaScript client throws at one
    /// (Reference/AzureNotificationHubs.md#2-1). An application may put its own name before the client's, and in a browser the
    /// client has a header of its own for it.
    var omitsSingleHeader: Bool { isCalled("azsdk-js") }

    /// Whether the client drops every tag of a record one of whose tags it takes for a mistake
    /// (Reference/AzureNotificationHubs.md#0-3).
    var omitsOddAddresses: Bool { isCalled("api-origin=DotNetSdk") }

    /// Whether the client has the word in one of the names that it gives itself. By bytes: this is asked with every answer.
    private func isCalled(_ word: StaticString) -> Bool {
        Self.contains(word, in: request.headers[.userAgent]) || Self.contains(word, in: request.headers[.microsoftUserAgent])
    }

    private static func contains(_ word: StaticString, in name: String?) -> Bool {
        let word = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard var name, name.utf8.count >= word.count else { return false }
        return name.withUTF8 { bytes in
            for start in 0...(bytes.count - word.count) where bytes[start] == word[0] && bytes[start...].starts(with: word) {
                return true
            }
            return false
        }
    }

    func body(limit: Int) async throws -> [UInt8] { try await request.readBody(limit: limit) }

    /// Refuses to replace or remove what carries a tag with a protected prefix to a key that stands in apps: only who may give such a
    /// tag may take it. A registration that belongs to an installation stands for all of it. `nil` for a key that may do so.
    var replacementCheck: ReplacementCheck? {
        guard isOfADevice else { return nil }
        return { [self] record, installation in
            try checkTags(record.tags)
            if let installation { try checkTags(installation.content.allTags) }
        }
    }

    /// Whether the key is one that stands in apps, of a hub that does not trust those with every tag.
    private var isOfADevice: Bool { !grant.allows(anyOf: [.manage]) && served?.trustsDeviceKeys != true }

    /// Refuses tags with a protected prefix to a key that is shipped in apps: a client that could set them would receive another user's
    /// pushes.
    func checkTags(_ tags: some Sequence<Tag>) throws(ServiceError) {
        guard isOfADevice else { return }
        for tag in tags {
            if let prefix = options.protectedTagPrefixes.first(where: { tag.folded.hasPrefix($0) }) {
                throw ServiceError(.forbidden, "Manage claim is required for tags that begin with \(prefix)")
            }
        }
    }

    /// Whether a text can be echoed in an answer's header.
    static func isTrackingID(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension HTTPField.Name {
    static let trackingID = HTTPField.Name(SendHeaders.trackingIDName) ?? .via
    static let microsoftUserAgent = HTTPField.Name("x-ms-useragent") ?? .via
    static let correlationRequestID = HTTPField.Name("x-ms-correlation-request-id") ?? .via
    static let continuationToken = HTTPField.Name(ContinuationToken.headerName) ?? .via
}

/// The answers of the hub protocol: the status that an operation's clients insist on, and a body of one of three types.
enum HubAnswer {
    static let entry = "application/atom+xml; type=entry; charset=utf-8"
    static let feed = "application/atom+xml; type=feed; charset=utf-8"
    static let xml = "application/xml; charset=utf-8"
    static let json = "application/json; charset=utf-8"
    static let text = "text/plain; charset=utf-8"

    /// An answer without a body.
    static func empty(_ operation: HubOperation, headers: HTTPFields = [:]) -> Response {
        Response(status: .init(code: operation.successStatus), headers: headers)
    }

    /// An answer with a body.
    static func body(_ text: String, as mediaType: String, _ operation: HubOperation, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = mediaType
        return Response(
            status: .init(code: operation.successStatus), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

/// Errors as the hub protocol has them (Reference/AzureNotificationHubs.md#6-2): a small XML body whose detail clients show to
/// users.
struct HubErrorRenderer: ErrorRenderer {
    let clock: any ServiceClock

    var challenge: String { "SharedAccessSignature" }

    func render(_ error: ServiceError, entry: ErrorTableEntry, requestID: String) -> (mediaType: String, body: [UInt8]) {
        let body = ErrorBody(
            code: status(of: error, entry: entry).code, detail: error.detail ?? entry.title,
            subCode: Self.subCode(error.code), trackingID: requestID, at: clock.now)
        return ("application/xml; charset=utf-8", Array(body.answer().utf8))
    }

    /// 401 for bad tokens, and 403 for a valid one without the right, as the service itself answers since 2022
    /// (Reference/AzureNotificationHubs.md#0-14): clients expect it, and the one that takes any other refusal for final until the
    /// app's next start works again once the right is given. Never with `Retry-After`, which would make it throttling to .NET.
    func status(of error: ServiceError, entry: ErrorTableEntry) -> HTTPResponse.Status {
        switch error.code {
        case .idempotencyMismatch: .conflict
        // A request for another host: two clients would take 403 for throttling and try again.
        case .crossSite: .badRequest
        default: entry.status
        }
    }

    /// The number that .NET looks for in the detail; those of tokens stand there already.
    private static func subCode(_ code: ServiceErrorCode) -> Int? {
        switch code {
        // The words alone are what clients know of an object that is not there.
        case .unauthenticated, .notFound, .unknownRoute: nil
        case .methodNotAllowed: 40500
        case .conflict: 40900
        case .registrationGone: 41000
        case .tooManyRequests, .tooManyAttempts: 42900
        case .forbidden, .quotaExceeded: 40300
        case .headersTooLarge, .payloadTooLarge, .contentTooLarge, .preconditionFailed, .requestTimeout: nil
        case .storageUnavailable, .outcomeUnknown, .notReady, .overloaded: 50004
        case .internal: 50000
        default: 40000
        }
    }
}
