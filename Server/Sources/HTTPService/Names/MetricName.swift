/// The one table of metrics. `Documentation/Metrics.md` is made from it, and the alert rules and the dashboard in `Deploy/`
/// may use no other names.
///
/// Names follow the rules of Prometheus, so the type and the unit are read from the name: see `kind` and `unit`. `help` says
/// what each metric counts.
public enum MetricName: String, Sendable, CaseIterable {
    case httpRequests = "clarion_http_requests_total"
    case httpRequestDuration = "clarion_http_request_duration_seconds"
    case httpRequestsInFlight = "clarion_http_requests_in_flight"
    case httpRequestErrors = "clarion_http_request_errors_total"
    case httpConnections = "clarion_http_connections"
    case httpConnectionsRefused = "clarion_http_connections_refused_total"
    case httpConnectionsStalled = "clarion_http_connections_stalled_total"
    case httpConnectionsMalformed = "clarion_http_connections_malformed_total"

    case sendsAccepted = "clarion_sends_accepted_total"
    case sendsEnded = "clarion_sends_ended_total"
    case webhookAttempts = "clarion_webhook_attempts_total"
    case pushOutcomes = "clarion_push_outcomes_total"
    case pushRetries = "clarion_push_retries_total"
    case pushDoubtfulRetries = "clarion_push_doubtful_retries_total"
    case pushesInFlight = "clarion_pushes_in_flight"
    case slicesLeased = "clarion_slices_leased"
    case slices = "clarion_slices"
    case nodes = "clarion_nodes"
    case databaseLogBytes = "clarion_database_wal_bytes"

    case apnsClients = "clarion_apns_clients"
    case apnsConnections = "clarion_apns_connections"
    case apnsStreamLimit = "clarion_apns_stream_limit"
    case apnsStreams = "clarion_apns_streams"
    case apnsWindow = "clarion_apns_window_bytes"
    case apnsRoundTrip = "clarion_apns_round_trip_seconds"
    case apnsQueued = "clarion_apns_queued_pushes"
    case apnsConnected = "clarion_apns_connections_made_total"
    case apnsConnectFailures = "clarion_apns_connect_failures_total"
    case apnsGoAways = "clarion_apns_goaways_total"
    case apnsResets = "clarion_apns_stream_resets_total"
    case apnsRequests = "clarion_apns_requests_total"
    case apnsResends = "clarion_apns_resends_total"
    case apnsTokenAge = "clarion_apns_token_age_seconds"

    case fcmConnections = "clarion_fcm_connections"
    case fcmStreamLimit = "clarion_fcm_stream_limit"
    case fcmStreams = "clarion_fcm_streams"
    case fcmQueued = "clarion_fcm_queued_messages"
    case fcmConnected = "clarion_fcm_connections_made_total"
    case fcmConnectFailures = "clarion_fcm_connect_failures_total"
    case fcmGoAways = "clarion_fcm_goaways_total"
    case fcmResets = "clarion_fcm_stream_resets_total"
    case fcmRequests = "clarion_fcm_requests_total"
    case fcmResends = "clarion_fcm_resends_total"

    case pushLatency = "clarion_push_latency_seconds"
    case dispatchLag = "clarion_dispatch_lag_seconds"

    case databaseConnections = "clarion_database_connections"
    case databaseConnectionsInUse = "clarion_database_connections_in_use"
    case databaseWaiting = "clarion_database_transactions_waiting"
    case databaseCommits = "clarion_database_commits_total"
    case databaseOperationDuration = "clarion_database_operation_duration_seconds"
    case databaseFaults = "clarion_database_faults_total"

    case contentOperationDuration = "clarion_content_operation_duration_seconds"
    case contentFaults = "clarion_content_faults_total"

    case jobsRunning = "clarion_jobs_running"
    case jobsEnded = "clarion_jobs_ended_total"
    case sweepLastSuccess = "clarion_sweep_last_success_timestamp_seconds"
    case sweepRemoved = "clarion_sweep_removed_total"
    case clockSteps = "clarion_clock_steps_total"
    case diskFree = "clarion_disk_free_bytes"

    case buildInfo = "clarion_build_info"
    // Names that Prometheus clients share.
    case processCPU = "process_cpu_seconds_total"
    case processMemory = "process_resident_memory_bytes"
    case processStart = "process_start_time_seconds"
    case processFiles = "process_open_fds"
    case processFileLimit = "process_max_fds"

    /// What the metric says, for its `# HELP` line and for the documentation.
    public var help: String {
        switch self {
        case .httpRequests: "Requests answered."
        case .httpRequestDuration: "Seconds from the head of a request to the head of its answer."
        case .httpRequestsInFlight: "Requests that are handled now."
        case .httpRequestErrors: "Requests that failed, by the codes of Documentation/Errors.md."
        case .httpConnections: "Connections that are open now."
        case .httpConnectionsRefused: "Connections that were refused because connection-limit was reached."
        case .httpConnectionsStalled:
            "Connections that were ended because the client was too slow: with its head, its body, or in reading."
        case .httpConnectionsMalformed:
            "Connections over HTTP/1.1 that were ended because a request broke the protocol: with its head or its body."
        case .sendsAccepted: "Sends that the hub accepted. From then on they are kept."
        case .sendsEnded: "Sends that reached a final state."
        case .webhookAttempts: "Requests to webhooks, by what became of the event: delivered, tried again later, or given up."
        case .pushOutcomes: "Every try of every push. More than the tallies of a send, which count each target once."
        case .pushRetries: "Tries of pushes after the first one of a target."
        case .pushDoubtfulRetries:
            "Tries of pushes of which an earlier try left and was not answered, so that this one may be a second copy."
        case .pushesInFlight:
            "Pushes handed to the client of a push service and not back yet, those that wait for a stream included."
        case .pushLatency:
            """
            Seconds from the moment at which a send is due until the push service has accepted a push of it. Each accepted \
            push counts once.
            """
        case .slicesLeased: "Slices that this node works on."
        case .slices:
            """
            Slices to be dispatched by all nodes: due_single, due_small and due_large are free, waiting ones are \
            scheduled, paced or back off, leased ones are worked on.
            """
        case .dispatchLag: "Seconds that the slice which is due longest has waited for a node. 0 when none is due."
        case .nodes: "Nodes that share the database and were seen within twenty seconds. Only with PostgreSQL."
        case .databaseLogBytes: "Bytes of the write-ahead log of a database file."
        case .apnsClients:
            """
            APNs clients that are open: one for the credential of the node, one for each hub that sends with its own. At \
            most 128 of hubs.
            """
        case .apnsConnections: "Connections to APNs."
        case .apnsStreamLimit: "Requests that the connections to APNs allow at the same time, together."
        case .apnsStreams: "Requests to APNs without an answer yet."
        case .apnsWindow:
            """
            Body bytes that the connections to APNs take now, together. Near 0 while pushes wait, the windows are the \
            limit.
            """
        case .apnsRoundTrip:
            """
            Seconds of a round trip to APNs, of the slowest connection: from SETTINGS to their acknowledgement, then a \
            PING a minute.
            """
        case .apnsQueued: "Pushes that wait for a stream to APNs."
        case .apnsConnected: "Connections to APNs that were made."
        case .apnsConnectFailures: "Attempts to connect to APNs that failed."
        case .apnsGoAways: "GOAWAY frames from APNs that ended the use of a connection."
        case .apnsResets: "Streams that APNs reset after their request was written. The fate of these pushes is unknown."
        case .apnsRequests: "Requests written to APNs, resends included."
        case .apnsResends: "Pushes sent again because APNs provably had not processed them."
        case .apnsTokenAge:
            """
            Age in seconds of the oldest provider token of the last minute. It is renewed at about 45 minutes; APNs \
            refuses one older than an hour.
            """
        case .fcmConnections: "Connections to FCM, which all hubs share."
        case .fcmStreamLimit: "Requests that the connections to FCM allow at the same time, together."
        case .fcmStreams: "Requests to FCM without an answer yet."
        case .fcmQueued: "Messages that wait for a stream to FCM. Those that wait for the pace of their project do not count."
        case .fcmConnected: "Connections to FCM that were made."
        case .fcmConnectFailures: "Attempts to connect to FCM that failed. The token endpoint does not count."
        case .fcmGoAways: "GOAWAY frames from FCM that ended the use of a connection."
        case .fcmResets: "Streams that FCM reset after their request was written. The fate of these messages is unknown."
        case .fcmRequests: "Requests written to FCM, resends included."
        case .fcmResends: "Messages sent again because FCM provably had not processed them."
        case .databaseConnections: "Connections to the database that may be open at the same time."
        case .databaseConnectionsInUse: "Connections to the database that work on a transaction."
        case .databaseWaiting: "Transactions that wait for a connection to the database."
        case .databaseCommits: "Commits that changed something. Small writes at the same time share one."
        case .databaseOperationDuration:
            "Seconds of a transaction, the wait for a connection included. A write ends when it is durable."
        case .databaseFaults:
            "Transactions that failed because of the database or its connection. Errors of a request do not count."
        case .contentOperationDuration: "Seconds of an operation of the content store, the disk or the bucket."
        case .contentFaults: "Operations of the content store that failed. Errors of a request do not count."
        case .jobsRunning: "Imports and exports that this node works on."
        case .jobsEnded: "Imports and exports that ended on this node."
        case .sweepLastSuccess:
            """
            When this node last ended a sweep without an error, in seconds since 1970; until then, when it began. Most \
            sweeps run once an hour, hubs and backend each minute.
            """
        case .sweepRemoved: "Rows and files that sweeps removed. The sweep hubs does not count."
        case .clockSteps: "Steps of the wall clock that the node noticed: it was set forward or back by two seconds or more."
        case .diskFree: "Bytes that the server may still write to the disk of the data directory."
        case .buildInfo: "Always 1. The version of the program is a label."
        case .processCPU: "Processor time of the process, user and system, in seconds. Linux only."
        case .processMemory: "Memory of the process that lies in RAM, in bytes. Linux only."
        case .processStart: "When the process began, in seconds since 1970. Linux only."
        case .processFiles: "Files and sockets that the process has open. Linux only."
        case .processFileLimit: "Files and sockets that the process may have open."
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
    /// The push service: `apns`, `fcm` or `web-push`.
    case service
    /// What became of a push, in the hub's words; or of the event of a request to a webhook: `delivered`, `retried` or `failed`.
    case result
    /// Why, in the words of APNs, of FCM or of the client, or as the class of a status, such as `4xx`; `other` for a word that is
    /// in no list, `none` without one. Or what a slow client was slow with.
    case reason
    /// `single`, `small` or `large`.
    case weight
    /// `due_single`, `due_small`, `due_large`, `waiting` or `leased`.
    case stage
    /// `ready`, `connecting` or `draining`.
    case phase
    /// `all`, `api` or `worker`.
    case role
    /// `read` or `write`.
    case pool
    /// What a store was asked to do: `read`, `write` and so on.
    case operation
    /// What the upkeep of a node keeps in order: `backend`, `devices`, `hubs`, `jobs`, `telemetry` or `uploads`.
    case sweep
    /// The version of the program.
    case version
}

/// What the name of a metric says of it, and the page that is made of all of them.
extension MetricName {
    /// The types of Prometheus that the server uses.
    public enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The type: counters end in `_total`; histograms in `_duration_seconds` or `_latency_seconds`; all others are gauges.
    public var kind: Kind {
        if rawValue.hasSuffix("_total") { return .counter }
        return rawValue.hasSuffix("_duration_seconds") || rawValue.hasSuffix("_latency_seconds") ? .histogram : .gauge
    }

    /// The unit, which Prometheus wants in the name; `count` for a plain number.
    public var unit: String {
        let words = rawValue.split(separator: "_")
        return words.contains("seconds") ? "seconds" : words.contains("bytes") ? "bytes" : "count"
    }

    /// The labels that every series of the metric has, besides `le` of a histogram's buckets.
    public var labels: [MetricLabel] {
        switch self {
        case .httpRequests: [.route, .method, .status]
        case .httpRequestDuration: [.route, .method]
        case .httpRequestErrors: [.code]
        case .httpConnectionsStalled, .httpConnectionsMalformed, .apnsGoAways, .databaseFaults: [.reason]
        case .sendsEnded, .jobsEnded: [.state]
        case .pushOutcomes: [.service, .result, .reason]
        case .pushLatency: [.service]
        case .webhookAttempts: [.result]
        case .slicesLeased: [.weight]
        case .slices: [.stage]
        case .nodes: [.role]
        case .apnsConnections, .fcmConnections: [.phase]
        case .databaseConnections, .databaseConnectionsInUse, .databaseWaiting: [.pool]
        case .databaseOperationDuration, .contentOperationDuration, .contentFaults: [.operation]
        case .sweepLastSuccess, .sweepRemoved: [.sweep]
        case .buildInfo: [.version]
        default: []
        }
    }

    /// Where the metric stands in the documentation.
    private var section: String {
        let words = rawValue.split(separator: "_")
        guard words[0] == "clarion", words.count > 1 else { return "The process" }
        return switch words[1] {
        case "http": "HTTP"
        case "apns": "The connection to APNs"
        case "fcm": "The connection to FCM"
        case "database": "The database"
        case "content": "The content store"
        case "webhook": "Webhooks"
        case "jobs", "sweep", "disk", "clock": "Upkeep"
        case "build": "The process"
        default: "Sends and pushes"
        }
    }

    private static let sections = [
        "Sends and pushes", "The connection to APNs", "The connection to FCM", "HTTP", "The database", "The content store",
        "Webhooks", "Upkeep", "The process",
    ]

    /// The tables of `Documentation/Metrics.md`: metrics by section, then labels and the keys of log lines.
    public static var markdown: String {
        let metrics = sections.map { section in
            let rows = allCases.filter { $0.section == section }.map { metric in
                let labels = metric.labels.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                return "| `\(metric.rawValue)` | \(metric.kind.rawValue) | \(metric.unit) | \(labels) | \(metric.help) |"
            }
            return ["## \(section)", "", "| Metric | Type | Unit | Labels | What it says |", "| --- | --- | --- | --- | --- |"]
                + rows
        }
        let keys = LogKey.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }
        let log = ["## Keys of log lines", "", "| Key | What it holds |", "| --- | --- |"] + keys
        return (metrics + [log]).map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }
}
