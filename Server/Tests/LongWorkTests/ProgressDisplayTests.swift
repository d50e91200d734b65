import ClarionTesting
import Synchronization
import Testing

@testable import LongWork

@Suite("Showing how far long work is")
final class ProgressDisplayTests: Sendable {
    private struct Failure: Error {}

    private let clock = ManualClock()
    private let written = Mutex<[String]>([])

    /// Moves time on when the display waits.
    private func pass(_ duration: Duration) async {
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: duration)
    }

    /// Waits until so many pieces are written, and returns them.
    private func pieces(_ count: Int) async -> [String] {
        #expect(await eventually { written.withLock { $0.count } >= count })
        return written.withLock { $0 }
    }

    private func display(_ style: ProgressDisplay.Style) -> ProgressDisplay {
        ProgressDisplay(style) { [self] piece in written.withLock { $0.append(piece) } }
    }

    @Test("on a terminal one line is written anew four times a second, is cut at the edge, and is gone when the work has ended")
    func rewritten() async throws {
        let progress = WorkProgress(clock: clock)
        let result = try await display(.rewritten).show(progress) {
            progress.begin("copying", total: 100_000_000)
            await pass(.milliseconds(250))
            _ = await pieces(1)
            progress.advance(to: 50_000_000)
            await pass(.milliseconds(250))
            _ = await pieces(2)
            return "done"
        }
        #expect(result == "done")
        #expect(
            written.withLock { $0 } == [
                "\r\u{1B}[2K\u{1B}[?7lcopying: 0 %, 0.0 of 100.0 MB\u{1B}[?7h",
                "\r\u{1B}[2K\u{1B}[?7lcopying: 50 %, 50.0 of 100.0 MB, 100.0 MB/s, 1 s left\u{1B}[?7h",
                "\r\u{1B}[2K",
            ])
    }

    @Test("elsewhere a whole line is written every ten seconds, and no more often")
    func lines() async throws {
        let progress = WorkProgress(clock: clock)
        try await display(.lines).show(progress) {
            progress.begin("copying", total: 4_000, unit: .counted("contents"))
            await pass(.milliseconds(9_999))
            #expect(written.withLock { $0.isEmpty })
            progress.advance(to: 1_000)
            await pass(.milliseconds(1))
            #expect(await pieces(1) == ["copying: 25 %, 1,000 of 4,000 contents, 100 contents/s, 30 s left\n"])
        }
        #expect(written.withLock { $0.count } == 1, "nothing follows when the work has ended")
    }

    @Test("work that fails leaves no line on a terminal, and its error comes out")
    func fails() async {
        let progress = WorkProgress(clock: clock)
        await #expect(throws: Failure.self) {
            try await display(.rewritten).show(progress) {
                progress.begin("copying", total: 1)
                await pass(.milliseconds(250))
                _ = await pieces(1)
                throw Failure()
            }
        }
        #expect(written.withLock { $0.last } == "\r\u{1B}[2K")
    }

    @Test(
        "a sentence beside the progress stands in a line of its own",
        arguments: [(ProgressDisplay.Style.rewritten, "\r\u{1B}[2KIt costs much\n"), (.lines, "It costs much\n")])
    func sentence(style: ProgressDisplay.Style, expected: String) {
        display(style).note("It costs much")
        #expect(written.withLock { $0 } == [expected])
    }

    @Test("work that has begun no stage has nothing to show")
    func nothing() async throws {
        let progress = WorkProgress(clock: clock)
        try await display(.lines).show(progress) {
            await pass(.seconds(10))
            #expect(await eventually { clock.sleeperCount == 1 })
        }
        #expect(written.withLock { $0.isEmpty })
    }

    @Test("rate and time left are those of the stage, which may name what it is at, and may be measured from outside")
    func stages() {
        let progress = WorkProgress(clock: clock)
        #expect(progress.line == nil)
        progress.begin("counting rows")
        clock.advance(by: .seconds(90))
        #expect(progress.line == "counting rows: 1 min 30 s so far")
        progress.begin("copying", total: 2_000, unit: .counted("rows"))
        progress.advance(to: 500, at: "devices")
        clock.advance(by: .seconds(5))
        #expect(progress.line == "copying devices: 25 %, 500 of 2,000 rows, 100 rows/s, 15 s left")
        progress.begin("writing", total: 10_000_000) { 4_000_000 }
        progress.advance(by: 500_000)
        progress.advance(by: 500_000)
        clock.advance(by: .seconds(5))
        #expect(progress.line == "writing: 50 %, 5.0 of 10.0 MB, 1.0 MB/s, 5 s left")
    }
}
