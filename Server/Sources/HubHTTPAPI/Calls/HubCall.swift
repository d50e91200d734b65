import HTTPService
import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

/// A request of somebody who holds a key with the right that it needs.
///
/// A class because it goes from hand to hand: copies of all that is in it cost more than what it is asked.
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

    /// Refuses tags with a protected prefix to a key that stands in apps: who could set them would receive what is meant for
    /// another person.
    func checkTags(_ tags: some Sequence<Tag>) throws(ServiceError) {
        guard isOfADevice else { return }
        for tag in tags {
            if let prefix = options.protectedTagPrefixes.first(where: { tag.folded.hasPrefix($0) }) {
                throw ServiceError(.forbidden, "Manage claim is required for tags that begin with \(prefix)")
            }
        }
    }

    /// Whether a text can be repeated in an answer's header.
    static func isTrackingID(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
