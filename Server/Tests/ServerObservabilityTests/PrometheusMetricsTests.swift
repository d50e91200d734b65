import CoreMetrics
import Metrics
import ServerObservability
import Testing

@Suite("Prometheus text")
struct PrometheusMetricsTests {
    @Test("shows counters, gauges and histograms sorted by name and labels")
    func golden() {
        let metrics = PrometheusMetrics(help: ["b_total": "Things\ncounted."])
        Counter(label: "b_total", dimensions: [("z", "2"), ("a", "1")], factory: metrics).increment(by: 3)
        Counter(label: "b_total", dimensions: [("a", "1"), ("z", "2")], factory: metrics).increment()
        Counter(label: "b_total", factory: metrics).increment()
        Gauge(label: "a-gauge", factory: metrics).record(2.5)
        let meter = Meter(label: "c_meter", factory: metrics)
        meter.increment(by: 5)
        meter.decrement()
        #expect(
            metrics.render() == """
                # TYPE a_gauge gauge
                a_gauge 2.5
                # HELP b_total Things counted.
                # TYPE b_total counter
                b_total 1
                b_total{a="1",z="2"} 4
                # TYPE c_meter gauge
                c_meter 4

                """)
    }

    @Test("shows durations in seconds in cumulated buckets")
    func histogram() {
        let metrics = PrometheusMetrics()
        let timer = Timer(label: "t", dimensions: [("route", "/x")], factory: metrics)
        timer.recordNanoseconds(1_000_000)
        timer.recordSeconds(2)
        timer.recordSeconds(100)
        let text = metrics.render()
        #expect(text.contains("# TYPE t histogram\n"))
        #expect(text.contains(#"t_bucket{route="/x",le="0.001"} 1"# + "\n"))
        #expect(text.contains(#"t_bucket{route="/x",le="1"} 1"# + "\n"))
        #expect(text.contains(#"t_bucket{route="/x",le="2.5"} 2"# + "\n"))
        #expect(text.contains(#"t_bucket{route="/x",le="60"} 2"# + "\n"))
        #expect(text.contains(#"t_bucket{route="/x",le="+Inf"} 3"# + "\n"))
        #expect(text.contains(#"t_sum{route="/x"} 102.001"# + "\n"))
        #expect(text.contains(#"t_count{route="/x"} 3"# + "\n"))
    }

    @Test("cannot be broken by a label, nor grown without bound by its values")
    func hostileLabels() {
        let metrics = PrometheusMetrics(seriesLimit: 3)
        Counter(label: "1 bad{name}", dimensions: [("l-1", "a\"b\\c\nd")], factory: metrics).increment()
        for value in 0..<100 { Counter(label: "n", dimensions: [("id", "\(value)")], factory: metrics).increment() }
        let text = metrics.render()
        #expect(text.contains(#"_1_bad_name_{l_1="a\"b\\c\nd"} 1"#))
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("n{") }.count == 4)
        #expect(text.contains(#"n{id="other"} 97"#))
    }

    @Test("keeps a name to the kind of metric that used it first")
    func kinds() {
        let metrics = PrometheusMetrics()
        Counter(label: "x", factory: metrics).increment()
        Gauge(label: "x", factory: metrics).record(9)
        #expect(metrics.render() == "# TYPE x counter\nx 1\n")
    }

    @Test("counts every increment of many tasks")
    func concurrent() async {
        let metrics = PrometheusMetrics()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for step in 0..<1_000 {
                        Counter(label: "c", dimensions: [("k", "\((task + step) % 3)")], factory: metrics).increment()
                    }
                }
            }
        }
        let sum = metrics.render().split(separator: "\n").filter { $0.hasPrefix("c{") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
        #expect(sum == 8_000)
    }
}
