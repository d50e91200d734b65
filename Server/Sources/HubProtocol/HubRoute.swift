import WireText

/// What a request asks for, by method and path.
///
/// Paths match without regard to case and with or without a final slash (Reference/AzureNotificationHubs.md#0-9). The spelling is
/// kept, because `Location` has to repeat it (Reference/AzureNotificationHubs.md#0-7).
public struct HubRoute: Hashable, Sendable {
    public var operation: HubOperation
    /// The hub's name, decoded; empty for the list of hubs.
    public var hub: String
    /// The hub's name as the path has it.
    public var hubSpelling: String
    /// The collection as the path has it, such as `registrationIDs`; empty for operations on hubs themselves.
    public var collectionSpelling: String
    /// The registration id, installation id, notification id, job id or tag, decoded.
    public var id: String?

    /// What matching a request came to.
    public enum Match: Hashable, Sendable {
        case route(HubRoute)
        /// The path is known, but not with this method; `Allow` names those that are.
        case methodNotAllowed([String])
        case unknownPath
    }

    /// Matches a method and a path, percent-encoded as it arrived, without its query.
    public static func match(method: String, path: some StringProtocol) -> Match {
        guard path.utf8.count <= 4096 else { return .unknownPath }
        var segments = String(path).split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        if segments.first == "" { segments.removeFirst() }
        if segments.last == "" { segments.removeLast() }
        // An empty segment inside names nothing.
        guard !segments.contains("") else { return .unknownPath }
        guard let resource = resource(segments) else { return .unknownPath }
        let method = method.uppercased()
        guard let operation = resource.operations.first(where: { $0.method == method })?.operation else {
            return .methodNotAllowed(resource.operations.map(\.method))
        }
        return .route(
            HubRoute(
                operation: operation, hub: resource.hasHub ? PercentEncoding.decodeLeniently(segments[0]) : "",
                hubSpelling: resource.hasHub ? segments[0] : "",
                collectionSpelling: resource.hasHub && segments.count > 1 ? segments[1] : "",
                id: resource.idIndex.map { PercentEncoding.decodeLeniently(segments[$0]) }))
    }

    private struct Resource {
        var hasHub = true
        var idIndex: Int?
        var operations: [(method: String, operation: HubOperation)]
    }

    private static func resource(_ segments: [String]) -> Resource? {
        let words = segments.map { PercentEncoding.decodeLeniently($0).lowercased() }
        if words.isEmpty || words == ["$resources", "notificationhubs"] {
            return Resource(hasHub: false, operations: [("GET", .hubs)])
        }
        guard words[0].first != "$" else { return nil }
        switch words.count {
        case 1: return Resource(operations: [("PUT", .putHub), ("GET", .hub), ("DELETE", .deleteHub)])
        case 2: return collections[words[1]].map { Resource(operations: $0) }
        case 3 where words[1] == "messages" && words[2] == "$batch": return Resource(operations: [("POST", .sendBatch)])
        case 3: return members[words[1]].map { Resource(idIndex: 2, operations: $0) }
        case 4 where words[1] == "tags" && words[3] == "registrations":
            return Resource(idIndex: 2, operations: [("GET", .registrationsByTag)])
        default: return nil
        }
    }

    private static let collections: [String: [(method: String, operation: HubOperation)]] = [
        "registrations": [("POST", .createRegistration), ("GET", .registrations)],
        "registrationids": [("POST", .createRegistrationID)],
        "messages": [("POST", .send)],
        "schedulednotifications": [("POST", .schedule)],
        "feedbackcontainer": [("GET", .feedbackContainer)],
        "jobs": [("POST", .submitJob), ("GET", .jobs)],
    ]

    private static let members: [String: [(method: String, operation: HubOperation)]] = [
        "registrations": [("GET", .registration), ("PUT", .putRegistration), ("DELETE", .deleteRegistration)],
        "installations": [
            ("PUT", .putInstallation), ("GET", .installation), ("PATCH", .patchInstallation), ("DELETE", .deleteInstallation),
        ],
        "messages": [("GET", .telemetry)],
        "schedulednotifications": [("DELETE", .cancelSchedule)],
        "jobs": [("GET", .job)],
    ]
}

/// The operations of the hub protocol (Reference/AzureNotificationHubs.md#2-0) and the status with which each succeeds.
///
/// The statuses are those that the clients insist on, not always those that are documented
/// (Reference/AzureNotificationHubs.md#0-6).
public enum HubOperation: String, Sendable, CaseIterable {
    case createRegistration, createRegistrationID, registration, putRegistration, deleteRegistration
    case registrations, registrationsByTag
    case putInstallation, installation, patchInstallation, deleteInstallation
    case send, sendBatch, schedule, cancelSchedule, telemetry
    case feedbackContainer
    case submitJob, jobs, job
    case putHub, hub, deleteHub, hubs

    /// The one status of success. For `putHub` it is that of an update; a hub that was created is answered with
    /// `createdHubStatus`.
    public var successStatus: Int {
        switch self {
        case .createRegistrationID, .send, .sendBatch, .schedule, .submitJob: 201
        case .deleteInstallation: 204
        case .createRegistration, .registration, .putRegistration, .deleteRegistration, .registrations, .registrationsByTag,
            .putInstallation, .installation, .patchInstallation, .cancelSchedule, .telemetry, .feedbackContainer, .jobs, .job,
            .putHub, .hub, .deleteHub, .hubs:
            200
        }
    }

    /// The status of a hub that a PUT created.
    public static let createdHubStatus = 201
}

/// The URLs of an answer: absolute, built from the request's own authority, spelling and version.
///
/// Clients take ids out of them by position, by literal text and byte for byte (Reference/AzureNotificationHubs.md#0-7): a
/// relative URL, a prefix before the hub, another letter case or a missing version breaks one of them.
public struct LocationHeader: Hashable, Sendable {
    /// The header's name.
    public static let name = "Location"

    private let base: String
    private let version: String

    /// Creates the builder for a request. `authority` is its `Host` or `:authority`; the fallback is used when that is not a
    /// plain host with an optional port. `scheme` is the one that the client used, `https` or `http`.
    public init(authority: String?, fallback: String, scheme: String = "https", route: HubRoute, apiVersion: String) {
        let authority = authority.flatMap { Self.isAuthority($0) ? $0 : nil } ?? fallback
        var base = "\(scheme):/"
        for part in [authority, route.hubSpelling, route.collectionSpelling] where !part.isEmpty {
            base += "/"
            base += part
        }
        self.base = base
        version = apiVersion
    }

    /// The collection of the request itself, `https://{host}/{hub}/{collection}?api-version=…`; of a hub or of the list of hubs
    /// without one.
    public var collection: String { "\(base)?api-version=\(version)" }

    /// A member of the collection, `https://{host}/{hub}/{collection}/{id}?api-version=…`.
    public func member(_ id: String) -> String { "\(base)/\(PercentEncoding.encode(id))?api-version=\(version)" }

    /// The id in such a URL, as this product's client takes it: the last segment before the query; `nil` when the URL has no
    /// such shape.
    public static func id(in location: String) -> String? {
        let path = location.prefix { $0 != "?" && $0 != "#" }
        guard let slash = path.lastIndex(of: "/"), path[..<slash].contains("/") else { return nil }
        let id = PercentEncoding.decodeLeniently(path[path.index(after: slash)...])
        return id.isEmpty ? nil : id
    }

    private static func isAuthority(_ text: String) -> Bool {
        (1...261).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}

/// The address of a request as this product's client makes it.
public enum HubURL {
    /// Joins a base without a final slash, the segments of the path and the query. Everything is percent-encoded, but for the `$`
    /// of fixed segments such as `$batch`, which clients send as it is.
    public static func text(base: String, path: [String], query: [HeaderField] = []) -> String {
        let segments = path.map { $0.hasPrefix("$") ? "$" + PercentEncoding.encode($0.dropFirst()) : PercentEncoding.encode($0) }
        let items = query.map { $0.value.isEmpty ? PercentEncoding.encode($0.name) : encoded($0) }
        return ([base] + segments).joined(separator: "/") + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }

    private static func encoded(_ item: HeaderField) -> String {
        PercentEncoding.encode(item.name) + "=" + PercentEncoding.encode(item.value)
    }
}
