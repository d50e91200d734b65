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
