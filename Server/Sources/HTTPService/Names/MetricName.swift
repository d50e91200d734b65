/// The names of all metrics of the server, so that a dashboard has one list to read. A module on a lower floor repeats
/// its names as text; `MetricName` is where they are declared.
public enum MetricName: String, Sendable, CaseIterable {
    /// Requests answered, by `route`, `method` and `status`.
    case httpRequests = "clarion_http_requests_total"
    /// Seconds from the head of a request to the head of its answer, by `route` and `method`.
    case httpRequestDuration = "clarion_http_request_duration_seconds"
    /// Requests being handled now.
    case httpRequestsInFlight = "clarion_http_requests_in_flight"
    /// Requests that failed, by `code` of the error table.
    case httpRequestErrors = "clarion_http_request_errors_total"
    /// Connections that are open now.
    case httpConnections = "clarion_http_connections"
    /// Connections that were refused because too many were open.
    case httpConnectionsRefused = "clarion_http_connections_refused_total"
    /// Connections that were ended because the client was too slow, by `reason`.
    case httpConnectionsStalled = "clarion_http_connections_stalled_total"

    /// What the metric says, for its `# HELP` line.
    public var help: String {
        switch self {
        case .httpRequests: "Requests answered, by route, method and status."
        case .httpRequestDuration: "Seconds from the head of a request to the head of its answer."
        case .httpRequestsInFlight: "Requests being handled now."
        case .httpRequestErrors: "Requests that failed, by error code."
        case .httpConnections: "Connections that are open now."
        case .httpConnectionsRefused: "Connections refused because too many were open."
        case .httpConnectionsStalled: "Connections ended because the client was too slow, by what it was slow with."
        }
    }
}

/// The label names that metrics may carry. Their values come from closed sets: never an id, a user or an address.
public enum MetricLabel: String, Sendable, CaseIterable {
    /// The template of the route, for example `/api/v1/notifications/{id}`; `unmatched` when there is none.
    case route
    /// The request method; `other` when it is not one of the seven usual ones.
    case method
    /// The status code as three digits.
    case status
    /// The wire code of the error table.
    case code
    /// Why something was ended, from a closed list.
    case reason
}
