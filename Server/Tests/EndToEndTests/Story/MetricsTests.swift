import DeviceSimulation
import Testing

struct MetricsTests {
    @Test("what a push does stands on /metrics: the send, its outcome, the queue, and the way to APNs")
    func push() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.phone(1).perform(.sendPush(.init()))
            try await stage.wait(for: "the alert", on: 1) { $0.alert != nil }
            let wanted: Set<String> = [
                "clarion_sends_accepted_total 1",
                #"clarion_push_outcomes_total{reason="none",result="accepted",service="apns"} 1"#,
                #"clarion_push_latency_seconds_count{service="apns"} 1"#,
                #"clarion_sends_ended_total{state="completed"} 1"#, "clarion_pushes_in_flight 0",
                #"clarion_slices_leased{weight="single"} 0"#, #"clarion_slices{stage="due_single"} 0"#,
                "clarion_apns_requests_total 1", #"clarion_apns_connections{phase="ready"} 1"#,
            ]
            _ = try await eventually("all of it is written") {
                let lines = Set(stage.metrics.render().split(separator: "\n").map(String.init))
                return lines.isSuperset(of: wanted) ? true : nil
            }
        }
    }
}
