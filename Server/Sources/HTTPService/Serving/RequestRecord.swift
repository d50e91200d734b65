import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOConcurrencyHelpers
import RichPushModel
import ServiceErrors

/// One answered request, as the log and the metrics see it.
struct RequestRecord {
    let request: Request
    let context: ServiceRequestContext
    let template: String
    let status: HTTPResponse.Status
    let duration: Duration
    let failure: RequestFailure?

    /// Writes the one line of this request. The path itself is not logged, since it may hold a device token in its query and
    /// ids of others; the template and the request id find it.
    func log(successLevel: Logger.Level) {
        guard failure != nil || context.logger.logLevel <= successLevel else { return }
        var metadata: Logger.Metadata = [:]
        metadata[.method] = .string(Self.label(of: request.method))
        metadata[.route] = .string(template)
        metadata[.status] = .stringConvertible(status.code)
        metadata[.durationMilliseconds] = .stringConvertible(duration.wholeMilliseconds)
        metadata[.remoteAddress] = context.remoteAddress.map { .string($0) }
        guard let failure else {
            context.logger.log(level: successLevel, "Request answered", metadata: metadata)
            return
        }
        metadata[.errorCode] = .string(failure.error.code.rawValue)
        // A 400 may quote what it was given, so that the caller finds the place; that can be a tag, a name or content.
        if status != .badRequest { metadata[.errorDetail] = failure.error.detail.map { .string($0) } }
        metadata[.errorType] = failure.unforeseen.map { .string($0) }
        context.logger.log(level: ErrorTable.entry(for: failure.error.code).level, "Request failed", metadata: metadata)
    }

    /// A method as a label: one of seven, or `other`.
    static func label(of method: HTTPRequest.Method) -> String {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options: method.rawValue
        default: "other"
        }
    }
}

/// Counts requests under label sets that cannot grow: templates, methods, statuses and codes, all of them closed lists.
///
/// Each set is looked up once: the names of a metric and its labels are many words for each request.
struct RequestMetrics: Sendable {
    private struct Answer: Hashable {
        var template: String
        var method: String
        var status: Int
    }

    private struct Series {
        var count: Counter
        var duration: Timer
    }

    private let factory: any MetricsFactory
    private let inFlight: NIOLockedValueBox<Int> = .init(0)
    private let known: NIOLockedValueBox<[Answer: Series]> = .init([:])
    private let gauge: Gauge

    init(factory: any MetricsFactory) {
        self.factory = factory
        gauge = Gauge(label: MetricName.httpRequestsInFlight.rawValue, factory: factory)
    }

    func began() { move(by: 1) }

    func ended() { move(by: -1) }

    private func move(by step: Int) {
        inFlight.withLockedValue { count in
            count += step
            gauge.record(count)
        }
    }

    func record(_ record: RequestRecord) {
        let series = series(record)
        series.count.increment()
        series.duration.record(duration: record.duration)
        if let failure = record.failure {
            let code = (MetricLabel.code.rawValue, ErrorTable.entry(for: failure.error.code).metricLabel)
            Counter(label: MetricName.httpRequestErrors.rawValue, dimensions: [code], factory: factory).increment()
        }
    }

    private func series(_ record: RequestRecord) -> Series {
        let answer = Answer(
            template: record.template, method: RequestRecord.label(of: record.request.method), status: record.status.code)
        if let series = known.withLockedValue({ $0[answer] }) { return series }
        let route = (MetricLabel.route.rawValue, record.template)
        let method = (MetricLabel.method.rawValue, answer.method)
        let status = (MetricLabel.status.rawValue, String(record.status.code))
        let series = Series(
            count: Counter(
                label: MetricName.httpRequests.rawValue, dimensions: [route, method, status], factory: factory),
            duration: Timer(
                label: MetricName.httpRequestDuration.rawValue, dimensions: [route, method], factory: factory))
        known.withLockedValue { $0[answer] = series }
        return series
    }
}
