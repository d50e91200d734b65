import CoreMetrics
import NIOConcurrencyHelpers

/// All series of one metric name.
struct PrometheusFamily: Sendable {
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

/// The labels of one series, sorted by name.
struct PrometheusLabels: Hashable, Sendable {
    private struct Label: Hashable {
        var name: String
        var value: String
    }

    private let labels: [Label]

    init(_ dimensions: [(String, String)]) {
        labels = dimensions.map { Label(name: PrometheusText.name($0.0), value: $0.1) }.sorted { $0.name < $1.name }
    }

    private init(labels: [Label]) { self.labels = labels }

    /// The same names with the value `other`.
    var folded: PrometheusLabels { PrometheusLabels(labels: labels.map { Label(name: $0.name, value: "other") }) }

    /// `{name="value",…}`, or nothing when there are no labels.
    func text(and extra: (String, String)? = nil) -> String {
        var pairs = labels.map { "\($0.name)=\"\(PrometheusText.value($0.value))\"" }
        if let extra { pairs.append("\(extra.0)=\"\(extra.1)\"") }
        return pairs.isEmpty ? "" : "{" + pairs.joined(separator: ",") + "}"
    }
}

/// A number that only grows.
final class CounterSeries: CounterHandler, FloatingPointCounterHandler {
    private let total = NIOLockedValueBox<Double>(0)

    var value: Double { total.withLockedValue { $0 } }

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    func increment(by amount: Double) {
        guard amount > 0 else { return }
        total.withLockedValue { $0 += amount }
    }

    func reset() { total.withLockedValue { $0 = 0 } }
}

/// A number that goes up and down.
final class GaugeSeries: RecorderHandler, MeterHandler {
    private let current = NIOLockedValueBox<Double>(0)

    var value: Double { current.withLockedValue { $0 } }

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { current.withLockedValue { $0 = value } }
    func increment(by amount: Double) { current.withLockedValue { $0 += amount } }
    func decrement(by amount: Double) { current.withLockedValue { $0 -= amount } }
}

/// A distribution over fixed buckets.
final class HistogramSeries: RecorderHandler, TimerHandler {
    /// What a histogram has counted so far.
    struct Snapshot {
        /// How many values lie in each bucket and, last, above them all; not cumulated.
        var counts: [Int]
        var sum: Double
    }

    let bounds: [Double]
    private let state: NIOLockedValueBox<Snapshot>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = NIOLockedValueBox(Snapshot(counts: Array(repeating: 0, count: bounds.count + 1), sum: 0))
    }

    var snapshot: Snapshot { state.withLockedValue { $0 } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLockedValue { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    /// Timers are shown in seconds, the base unit of Prometheus.
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
}

/// Names, values and escapes of the exposition format.
enum PrometheusText {
    /// A metric or label name: letters, digits and underscores, no digit first. Everything else becomes an underscore.
    static func name(_ text: String) -> String {
        var name = String(
            text.unicodeScalars.map {
                $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0)) ? Character($0) : "_"
            })
        if name.isEmpty || name.first?.isNumber == true { name = "_" + name }
        return name
    }

    /// A label value with its escapes, at most 120 characters.
    static func value(_ text: String) -> String {
        var escaped = ""
        for character in text.prefix(120) {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n", "\r\n", "\r": escaped += "\\n"
            default: escaped.append(character)
            }
        }
        return escaped
    }

    static func help(_ text: String) -> String { text.split(whereSeparator: \.isNewline).joined(separator: " ") }

    static func number(_ value: Double) -> String {
        if value == .infinity { return "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return String(value)
    }
}
