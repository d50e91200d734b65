import Testing

@testable import CommandLineSupport

@Suite("The progress of long work")
struct ProgressMeterTests {
    @Test(
        "part, amount, rate and time left",
        arguments: [
            (0, 0, "0 %, 0.0 of 200.0 MB"), (50_000_000, 10, "25 %, 50.0 of 200.0 MB, 5.0 MB/s, 30 s left"),
            (10_000_000, 10, "5 %, 10.0 of 200.0 MB, 1.0 MB/s, 3 min 10 s left"),
            (100_000, 10, "0 %, 0.1 of 200.0 MB, 0.0 MB/s, 5 h 33 min left"),
            (250_000_000, 10, "100 %, 200.0 of 200.0 MB, 20.0 MB/s, 0 s left"),
        ])
    func line(done: Int64, seconds: Int, expected: String) {
        #expect(ProgressMeter(total: 200_000_000).line(done: done, after: .seconds(seconds)) == expected)
    }

    @Test("nothing to do is done")
    func nothing() { #expect(ProgressMeter(total: 0).line(done: 0, after: .zero) == "100 %, 0.0 of 0.0 MB") }
}
