/// All series of one metric name.
struct PrometheusFamily: Sendable {
    /// The kinds of metrics.
    enum Kind: Hashable {
        case counter
        case gauge
        /// With the upper bounds of its buckets.
        case histogram([Double])

        var word: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    let kind: Kind
    private var series: [PrometheusLabels: any Sendable & AnyObject] = [:]

    init(kind: Kind) { self.kind = kind }

    /// The series of these labels, made at first use; `nil` when the family is of another kind.
    mutating func series(_ labels: PrometheusLabels, kind: Kind, limit: Int) -> (any Sendable & AnyObject)? {
        guard kind == self.kind else { return nil }
        if let known = series[labels] { return known }
        let labels = series.count < limit ? labels : labels.folded
        if let known = series[labels] { return known }
        let new: any Sendable & AnyObject =
            switch kind {
            case .counter: CounterSeries()
            case .gauge: GaugeSeries()
            case .histogram(let bounds): HistogramSeries(bounds: bounds)
            }
        series[labels] = new
        return new
    }

    /// The lines of this family.
    func text(name: String, help: String?) -> String {
        var text = help.map { "# HELP \(name) \(PrometheusText.help($0))\n" } ?? ""
        text += "# TYPE \(name) \(kind.word)\n"
        for (labels, series) in series.sorted(by: { $0.key.text() < $1.key.text() }) {
            switch series {
            case let counter as CounterSeries: text += "\(name)\(labels.text()) \(PrometheusText.number(counter.value))\n"
            case let gauge as GaugeSeries: text += "\(name)\(labels.text()) \(PrometheusText.number(gauge.value))\n"
            case let histogram as HistogramSeries: text += Self.lines(of: histogram, name: name, labels: labels)
            default: break
            }
        }
        return text
    }

    private static func lines(of histogram: HistogramSeries, name: String, labels: PrometheusLabels) -> String {
        let snapshot = histogram.snapshot
        var text = ""
        var total = 0
        for (bound, count) in zip(histogram.bounds + [.infinity], snapshot.counts) {
            total += count
            text += "\(name)_bucket\(labels.text(and: ("le", PrometheusText.number(bound)))) \(total)\n"
        }
        text += "\(name)_sum\(labels.text()) \(PrometheusText.number(snapshot.sum))\n"
        return text + "\(name)_count\(labels.text()) \(total)\n"
    }
}
