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
