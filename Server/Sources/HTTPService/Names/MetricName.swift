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

    /// Sends that the hub accepted.
    case sendsAccepted = "clarion_sends_accepted_total"
    /// Sends that reached a final state, by `state`.
    case sendsEnded = "clarion_sends_ended_total"
    /// Outcomes of pushes, each try counted, by `result` and `reason`.
    case pushOutcomes = "clarion_push_outcomes_total"
    /// Tries after the first one of a target.
    case pushRetries = "clarion_push_retries_total"
    /// Pushes handed to the transport and not back yet.
    case pushesInFlight = "clarion_pushes_in_flight"
    /// Slices that this node works on, by `weight`.
    case slicesInHand = "clarion_slices_in_hand"
    /// Slices to be dispatched, of all nodes, by `stage`.
    case slices = "clarion_slices"
    /// Nodes that share the database and are there, by `role`.
    case nodes = "clarion_nodes"

    /// Clients of APNs that are open: the node's, and those of hubs with a credential of their own.
    case apnsClients = "clarion_apns_clients"
    /// Connections to APNs, by `phase`.
    case apnsConnections = "clarion_apns_connections"
    /// Streams that the connections allow now, together.
    case apnsStreamLimit = "clarion_apns_stream_limit"
    /// Requests on the wire without an answer.
    case apnsStreams = "clarion_apns_streams"
    /// Body bytes that the connections take now, together.
    case apnsWindow = "clarion_apns_window_bytes"
    /// The longest of the connections' latest round trips.
    case apnsRoundTrip = "clarion_apns_round_trip_seconds"
    /// Pushes that wait for a stream.
    case apnsQueued = "clarion_apns_queued_pushes"
    /// Connections made.
    case apnsConnected = "clarion_apns_connections_made_total"
    /// Attempts to connect that failed.
    case apnsConnectFailures = "clarion_apns_connect_failures_total"
    /// GOAWAY frames that ended the use of a connection, by `reason`.
    case apnsGoAways = "clarion_apns_goaways_total"
    /// Streams that APNs reset.
    case apnsResets = "clarion_apns_stream_resets_total"
    /// Requests written, resends included.
    case apnsRequests = "clarion_apns_requests_total"
    /// Pushes sent again because they were provably not processed.
    case apnsResends = "clarion_apns_resends_total"
    /// Age of the oldest provider token that went out within the last minute.
    case apnsTokenAge = "clarion_apns_token_age_seconds"

    /// What the metric says, for its `# HELP` line.
    public var help: String {
        switch self {
        case .httpRequests: "Requests answered, by route, method and status."
        case .httpRequestDuration: "Seconds from the head of a request to the head of its answer."
        case .httpRequestsInFlight: "Requests being handled now."
        case .httpRequestErrors: "Requests that failed, by error code."
        case .sendsAccepted: "Sends that the hub accepted."
        case .sendsEnded: "Sends that reached a final state, by state."
        case .pushOutcomes: "Outcomes of pushes, each try counted, by result and reason."
        case .pushRetries: "Tries of pushes after the first one of a target."
        case .pushesInFlight: "Pushes handed to the transport and not back yet."
        case .slicesInHand: "Slices that this node works on, by weight."
        case .slices: "Slices to be dispatched by all nodes, by stage."
        case .nodes: "Nodes that share the database and are there, by role."
        case .apnsClients:
            "Clients of APNs that are open: one for the node's credential, one for each hub that sends with its own."
        case .apnsConnections: "Connections to APNs, by phase."
        case .apnsStreamLimit: "Streams that the connections to APNs allow now, together."
        case .apnsStreams: "Requests to APNs without an answer yet."
        case .apnsWindow: "Body bytes that the connections to APNs take now, together."
        case .apnsRoundTrip: "Round trip to APNs in seconds, of the slowest connection, by PING."
        case .apnsQueued: "Pushes that wait for a stream to APNs."
        case .apnsConnected: "Connections to APNs that were made."
        case .apnsConnectFailures: "Attempts to connect to APNs that failed."
        case .apnsGoAways: "GOAWAY frames from APNs that ended the use of a connection, by reason."
        case .apnsResets: "Streams that APNs reset after their request was written."
        case .apnsRequests: "Requests written to APNs, resends included."
        case .apnsResends: "Pushes sent again because APNs provably had not processed them."
        case .apnsTokenAge: "Age of the oldest provider token in use, in seconds; APNs refuses one older than an hour."
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
    /// The final state of a send.
    case state
    /// What became of a push, in the hub's words.
    case result
    /// Why, in the words of APNs or of the client; `other` for a word that is in neither list, `none` without one. Or what a
    /// slow client was slow with.
    case reason
    /// `single`, `small` or `large`.
    case weight
    /// `due_single`, `due_small`, `due_large`, `waiting` or `leased`.
    case stage
    /// `ready`, `connecting` or `draining`.
    case phase
    /// `all`, `api` or `worker`.
    case role
}
