import HTTPService
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("The table of metrics")
struct MetricTableTests {
    @Test("names say their type and unit as Prometheus wants it")
    func names() {
        for metric in MetricName.allCases {
            #expect(metric.rawValue.wholeMatch(of: /(clarion|process)_[a-z_]+[a-z]/) != nil)
            #expect((metric.kind == .counter) == metric.rawValue.hasSuffix("_total"))
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("|"), "\(metric.rawValue)")
            if metric.kind == .histogram { #expect(metric.unit == "seconds") }
        }
        #expect(MetricName.pushLatency.kind == .histogram)
        #expect(MetricName.diskFree.unit == "bytes")
        #expect(MetricName.slices.kind == .gauge)
        #expect(MetricName.slices.unit == "count")
    }

    @Test("every key of the log is explained by a sentence")
    func keys() {
        for key in LogKey.allCases { #expect(key.meaning.hasSuffix(".") && !key.meaning.contains("|"), "\(key.rawValue)") }
    }

    /// With `CLARION_RENEW_DOCUMENTATION=1` in the environment the tables are written instead of compared.
    @Test("Documentation/Metrics.md ends with the tables")
    func pageIsFresh() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = root.appending(path: "Documentation/Metrics.md")
        var text = try String(contentsOf: page, encoding: .utf8)
        if ProcessInfo.processInfo.environment["CLARION_RENEW_DOCUMENTATION"] == "1" {
            let words = try #require(text.range(of: "\n## Sends and pushes\n"))
            text = text[..<words.lowerBound] + "\n" + MetricName.markdown
            try text.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(text.hasSuffix("\n" + MetricName.markdown))
    }
}
