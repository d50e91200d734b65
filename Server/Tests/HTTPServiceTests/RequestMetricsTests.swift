import ClarionTesting
import HTTPService
import HTTPTypes
import Hummingbird
import ServerObservability
import Testing

@Suite("Request metrics")
struct RequestMetricsTests {
    @Test("carry templates, methods, statuses and codes, and nothing that a caller chose")
    func labels() async throws {
        let metrics = PrometheusMetrics()
        let harness = RouterHarness(options: ServiceOptions(clock: ManualClock(), metrics: metrics)) { router in
            router.get("/api/notifications/{id}") { _, _ in "x" }
        }
        for id in 1...3 { _ = try await harness.call(.get, "/api/notifications/\(id)?q=secret") }
        _ = try await harness.call(.head, "/api/notifications/4")
        _ = try await harness.call(.get, "/secret/path")
        _ = try await harness.call(HTTPRequest.Method("SECRET")!, "/api/notifications/4")
        let text = metrics.render()
        #expect(text.contains(#"clarion_http_requests_total{method="GET",route="/api/notifications/{id}",status="200"} 3"#))
        #expect(text.contains(#"clarion_http_requests_total{method="HEAD",route="/api/notifications/{id}",status="200"} 1"#))
        #expect(text.contains(#"clarion_http_requests_total{method="GET",route="unmatched",status="404"} 1"#))
        #expect(text.contains(#"clarion_http_requests_total{method="other",route="/api/notifications/{id}",status="405"} 1"#))
        #expect(text.contains(#"clarion_http_request_errors_total{code="unknown-route"} 1"#))
        #expect(text.contains(#"clarion_http_request_duration_seconds_count{method="GET",route="/api/notifications/{id}"} 3"#))
        #expect(text.contains("clarion_http_requests_in_flight 0"))
        #expect(!text.lowercased().contains("secret"))
    }
}
