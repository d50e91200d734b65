import Foundation

/// What was measured of the APNs client, as a table and as JSON.
struct PushReport: Encodable {
    var machine: String
    var loadAverage: Double
    var rounds: Int
    var pushes: [PushBenchmark.Row]
    var distance: [DistanceBenchmark.Row]
    var growth: GrowthBenchmark.Row

    var lines: [String] {
        var rows = [
            [
                "answers/record", "ids", "client", "window", "per CPU second", "CPU s per 100k", "per second", "ratio", "p50 ms",
                "p99 ms", "RSS MB",
                "bytes",
            ]
        ]
        for row in pushes {
            rows.append([
                row.answersPerRecord == 0 ? "all" : "\(row.answersPerRecord)", row.encoding.rawValue, row.client, "\(row.window)",
                Self.show(row.perProcessorSecond, 0), Self.show(row.processorSecondsPer100k, 3),
                Self.show(row.perSecond, 0), Self.show(row.ratio, 2), Self.show(row.p50Milliseconds, 2),
                Self.show(row.p99Milliseconds, 2), Self.show(row.residentMegabytes, 1), Self.show(row.bytesPerPush, 0),
            ])
        }
        var far = [["body", "offered/s", "carried/s", "connections", "needed", "of ceiling", "p50 ms", "p99 ms"]]
        for row in distance {
            far.append([
                "\(row.bodySize)", "\(row.offeredPerSecond)", Self.show(row.carriedPerSecond, 0), "\(row.connections)",
                "\(row.neededConnections)", Self.show(row.shareOfCeiling * 100, 0) + " %", Self.show(row.p50Milliseconds, 1),
                Self.show(row.p99Milliseconds, 1),
            ])
        }
        let memory = [
            ["pushes", "per second", "MB after a tenth", "MB at the end", "growth", "limit", "MB at the most", "limit", ""],
            [
                "\(growth.pushes)", Self.show(growth.perSecond, 0), Self.show(growth.earlyMegabytes, 1),
                Self.show(growth.lateMegabytes, 1), Self.show(growth.growthMegabytes, 1),
                Self.show(GrowthBenchmark.growthLimit, 0),
                Self.show(growth.peakMegabytes, 1), Self.show(GrowthBenchmark.peakLimit, 0),
                growth.isWithinLimits ? "ok" : "MISSED",
            ],
        ]
        return Self.align(rows) + [""] + Self.align(far) + [""] + Self.align(memory)
    }

    static func show(_ value: Double?, _ digits: Int) -> String {
        value.map { String(format: "%.\(digits)f", $0) } ?? "-"
    }

    /// The columns below each other; numbers to the right.
    static func align(_ rows: [[String]]) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + padding : padding + row[column]
            }.joined(separator: "  ")
        }
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(filePath: path))
    }
}
