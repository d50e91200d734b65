import ClarionTesting
import NIOConcurrencyHelpers
import Testing

@testable import HTTPService

@Suite("Many requests whose deadlines are kept with one timer")
struct DeadlineWatchTests {
    private struct Failure: Error {}

    private let clock = ManualClock()
    private let watch: DeadlineWatch
    /// Whether each work was cancelled by its deadline, by its number.
    private let late = NIOLockedValueBox<[Int: Bool]>([:])

    init() { watch = DeadlineWatch(clock: clock, longestSleep: .seconds(30)) }

    /// Starts a work that ends when it is cancelled, and returns when it is under way and the timer runs.
    @discardableResult
    private func start(_ number: Int, _ deadline: RequestDeadline) async -> Task<Void, Never> {
        let before = watch.count
        let task = Task {
            let (result, isLate) = await watch.run(until: deadline) { try await untilCancelled() }
            late.withLockedValue { $0[number] = isLate }
            #expect(throws: CancellationError.self) { try result.get() }
        }
        await reached { watch.count == before + 1 && clock.sleeperCount == 1 }
        return task
    }

    private func untilCancelled() async throws {
        let (ends, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in ends {}
        try Task.checkCancellation()
    }

    /// Lets others go on until something is so; the test fails when it never is.
    private func reached(
        _ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        for _ in 0..<1_000_000 where !condition() { await Task.yield() }
        #expect(condition(), sourceLocation: sourceLocation)
    }

    private func deadline(in duration: Duration) -> RequestDeadline { RequestDeadline(at: clock.uptime + duration) }

    @Test("share the timer, and all are cancelled at their deadline, not before")
    func oneTimer() async {
        for number in 0..<100 { await start(number, deadline(in: .seconds(30))) }
        #expect(clock.sleeperCount == 1)
        #expect(watch.count == 100)
        clock.advance(by: .milliseconds(29_999))
        #expect(clock.sleeperCount == 1)
        #expect(watch.count == 100)
        clock.advance(by: .milliseconds(1))
        await reached { late.withLockedValue { $0.count == 100 && $0.values.allSatisfy { $0 } } }
        #expect(watch.count == 0)
        await reached { clock.sleeperCount == 0 }
    }

    @Test("each have their own deadline")
    func ownDeadlines() async {
        for number in 0..<3 {
            await start(number, deadline(in: .seconds(30)))
            clock.advance(by: .seconds(10))
        }
        for number in 0..<3 {
            // The moment of this one has come; those behind it have ten seconds more each.
            await reached { late.withLockedValue { $0.count } == number + 1 }
            #expect(late.withLockedValue { $0.keys.sorted() } == Array(0...number))
            if number < 2 { await reached { clock.sleeperCount == 1 } }
            clock.advance(by: .seconds(10))
        }
        #expect(late.withLockedValue { $0.values.allSatisfy { $0 } })
    }

    @Test("have longer when the deadline is moved")
    func moved() async {
        let (first, second) = (deadline(in: .seconds(30)), deadline(in: .seconds(30)))
        await start(0, first)
        await start(1, second)
        first.extend(to: .seconds(90))
        second.extend(to: .seconds(60))
        clock.advance(by: .seconds(30))
        await reached { clock.sleeperCount == 1 }
        #expect(late.withLockedValue { $0.isEmpty })
        clock.advance(by: .seconds(30))
        await reached { late.withLockedValue { $0 } == [1: true] && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        await reached { late.withLockedValue { $0 } == [0: true, 1: true] }
    }

    @Test("are given up with their caller, which is not late")
    func givenUp() async {
        let task = await start(0, deadline(in: .seconds(30)))
        await start(1, deadline(in: .seconds(30)))
        task.cancel()
        await reached { late.withLockedValue { $0 } == [0: false] && watch.count == 1 }
        clock.advance(by: .seconds(30))
        await reached { late.withLockedValue { $0 } == [0: false, 1: true] }
    }

    @Test("are never cancelled without a deadline")
    func never() async {
        let task = await start(0, RequestDeadline(at: nil))
        for _ in 1...3 {
            clock.advance(by: .seconds(3_600))
            await reached { clock.sleeperCount == 1 }
        }
        #expect(late.withLockedValue { $0.isEmpty })
        task.cancel()
        await reached { late.withLockedValue { $0 } == [0: false] }
    }

    @Test("leave a timer that ends by itself, and the next request begins another")
    func idle() async {
        let (result, isLate) = await watch.run(until: deadline(in: .seconds(30))) {
            // Else the timer may find nothing under way before it has slept.
            await reached { clock.sleeperCount == 1 }
            return 7
        }
        #expect((try? result.get()) == 7 && !isLate && watch.count == 0)
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(30))
        await reached { clock.sleeperCount == 0 }
        await start(0, deadline(in: .seconds(30)))
        clock.advance(by: .seconds(30))
        await reached { late.withLockedValue { $0 } == [0: true] }
    }

    @Test("return their result although they were cancelled, an error too", arguments: [true, false])
    func ending(succeeds: Bool) async {
        let deadline = deadline(in: .seconds(30))
        let task = Task {
            await watch.run(until: deadline) {
                try? await untilCancelled()
                if !succeeds { throw Failure() }
                return 7
            }
        }
        await reached { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        let (result, isLate) = await task.value
        #expect(isLate)
        if succeeds { #expect((try? result.get()) == 7) } else { #expect(throws: Failure.self) { try result.get() } }
    }

    @Test("neither miss a deadline nor the end of a work when many come and go at once")
    func comingAndGoing() async {
        var random = SeededGenerator()
        var left: [Int: Task<Void, Never>] = [:]
        for number in 0..<300 {
            let deadline = deadline(in: .seconds(30))
            left[number] = Task {
                let isLate = await watch.run(until: deadline) { try await untilCancelled() }.isLate
                late.withLockedValue { $0[number] = isLate }
            }
            if Int.random(in: 0..<3, using: &random) > 0 {
                left.keys.randomElement(using: &random).flatMap { left.removeValue(forKey: $0) }?.cancel()
            }
            if Int.random(in: 0..<20, using: &random) == 0 { await Task.yield() }
        }
        await reached { late.withLockedValue { $0.count } == 300 - left.count && watch.count == left.count }
        await reached { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        await reached { late.withLockedValue { $0.count } == 300 }
        #expect(late.withLockedValue { late in left.keys.allSatisfy { late[$0] == true } }, "seed \(random.seed)")
        #expect(late.withLockedValue { $0.values.count { $0 } } == left.count)
        #expect(watch.count == 0)
    }
}
