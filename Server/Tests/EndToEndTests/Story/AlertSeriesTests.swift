import ClarionTesting
import Foundation
import Testing

struct AlertSeriesTests {
    /// What the alert rules select where only a rise or an age makes the alert, in the words of the rules. Rules that wait for a rate to
    /// last ten minutes are left out: a series that begins with the first event still rises afterwards.
    private static let selectors: [(name: Substring, labels: [(Substring, Substring)])] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let rules = (try? String(contentsOf: root.appending(path: "Deploy/prometheus/rules.yaml"), encoding: .utf8)) ?? ""
        return rules.matches(of: /(?:increase\(|time\(\) - )([a-z_]+)\{([^}]*)\}/).map { rule in
            let labels = rule.2.matches(of: /([a-z]+)="([^"]*)"/).map { ($0.1, $0.2) }
            return (rule.1, labels.filter { $0.0 != "job" })
        }
    }()

    @Test("a node that has just begun serves each series whose first rise is an alert")
    func fresh() async throws {
        #expect(Self.selectors.count >= 7)
        try await Stage.open { stage in
            _ = try await eventually("all of them are served") {
                let lines = stage.metrics.render().split(separator: "\n")
                return Self.selectors.allSatisfy { name, labels in
                    lines.contains { line in
                        line.prefix { $0 != "{" && $0 != " " } == name
                            && labels.allSatisfy { line.contains("\($0.0)=\"\($0.1)\"") }
                    }
                } ? true : nil
            }
        }
    }
}
