import Testing

@testable import LongWork

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

    @Test(
        "things are counted by name, in groups of three digits, and slow rates have a decimal place",
        arguments: [
            (0, 0, "0 %, 0 of 1,234,567 rows"), (123_456, 10, "9 %, 123,456 of 1,234,567 rows, 12,345 rows/s, 1 min 31 s left"),
            (999, 1_000, "0 %, 999 of 1,234,567 rows, 0.9 rows/s, 343 h 0 min left"),
        ])
    func counted(done: Int64, seconds: Int, expected: String) {
        #expect(ProgressMeter(total: 1_234_567, unit: .counted("rows")).line(done: done, after: .seconds(seconds)) == expected)
    }

    @Test("without a total there is the time since the start")
    func unknown() {
        #expect(ProgressMeter(total: nil).line(done: 5, after: .seconds(3_700)) == "1 h 1 min so far")
    }

    @Test("nothing to do is done")
    func nothing() { #expect(ProgressMeter(total: 0).line(done: 0, after: .zero) == "100 %, 0.0 of 0.0 MB") }
}
