import HTTPTypes
import Hummingbird

/// `/metrics` as Prometheus text. It belongs on a listener of its own, which the outside cannot reach.
public struct MetricsRoutes: Sendable {
    private let metrics: PrometheusMetrics

    /// Creates the route.
    public init(metrics: PrometheusMetrics) { self.metrics = metrics }

    /// Adds `GET /metrics`.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get("/metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: metrics.render())))
        }
    }
}
