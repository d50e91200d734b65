import Foundation

/// One figure, measured several times.
struct Measurement {
    var name: String
    var unit: String
    var values: [Double]
    /// What it must stay below; absent when the figure is only reported.
    var limit: Double?
    /// Whether every value is held to the limit, as with memory, for which the system ends a process the first time; otherwise the
    /// median is.
    var isLimitForAll = false

    var median: Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .infinity : sorted[sorted.count / 2]
    }

    var isWithinLimit: Bool { limit.map { (isLimitForAll ? values.max() ?? .infinity : median) < $0 } ?? true }

    /// The figures as lines of a table.
    static func table(_ measurements: [Measurement]) -> [String] {
        let header = ["", "median", "least", "most", "limit", ""]
        let rows = measurements.map { measurement in
            [
                measurement.name, measurement.show(measurement.median), measurement.show(measurement.values.min() ?? .infinity),
                measurement.show(measurement.values.max() ?? .infinity), measurement.limit.map(measurement.show) ?? "-",
                measurement.isWithinLimit ? "ok" : "MISSED",
            ]
        }
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + padding : padding + row[column]
            }.joined(separator: "  ")
        }
    }

    private func show(_ value: Double) -> String { String(format: "%.1f %@", value, unit) }
}
