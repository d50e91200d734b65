import ClarionTesting
import NIOConcurrencyHelpers
import Testing

@testable import HTTPService

@Suite("Many requests that wait for their deadlines with one timer")
struct DeadlineWatchTests {
    private let clock = ManualClock()
    private let watch: DeadlineWatch
    /// How each wait ended, by its number.
    private let ends = NIOLockedValueBox<[Int: Bool]>([:])

    init() { watch = DeadlineWatch(clock: clock, longestSleep: .seconds(30)) }

    /// Starts a wait and returns when it has its place: the first keeps watch, the others are parked.
    private func start(_ number: Int, _ deadline: RequestDeadline) async -> Task<Void, Never> {
        let parked = watch.waiting.parked
        let isFirst = clock.sleeperCount == 0
        let task = Task {
            do {
                try await watch.wait(for: deadline)
                ends.withLockedValue { $0[number] = true }
            } catch {
                ends.withLockedValue { $0[number] = false }
            }
        }
        await reached { isFirst ? clock.sleeperCount == 1 : watch.waiting.parked == parked + 1 }
        return task
    }

    /// Lets others go on until something is so; the test fails when it never is.
    private func reached(
        _ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        for _ in 0..<1_000_000 where !condition() { await Task.yield() }
        #expect(condition(), sourceLocation: sourceLocation)
    }

    private func deadline(in duration: Duration) -> RequestDeadline { RequestDeadline(at: clock.uptime + duration) }

    @Test("wait with one timer, and all end at their deadline")
    func oneTimer() async {
        for number in 0..<100 { _ = await start(number, deadline(in: .seconds(30))) }
        #expect(clock.sleeperCount == 1 && watch.waiting.parked == 99)
        clock.advance(by: .milliseconds(29_999))
        #expect(clock.sleeperCount == 1 && ends.withLockedValue { $0.isEmpty })
        clock.advance(by: .milliseconds(1))
        await reached { ends.withLockedValue { $0.count == 100 && $0.values.allSatisfy { $0 } } }
        #expect(clock.sleeperCount == 0 && watch.waiting == (0, 0))
    }

    @Test("each end at their own deadline, whoever keeps watch")
    func ownDeadlines() async {
        for number in 0..<3 {
            _ = await start(number, deadline(in: .seconds(30)))
            clock.advance(by: .seconds(10))
        }
        for number in 0..<3 {
            // The moment of this one has come; those behind it have ten seconds more each.
            await reached { ends.withLockedValue { $0.count } == number + 1 }
            #expect(ends.withLockedValue { $0.keys.sorted() } == Array(0...number))
            if number < 2 { await reached { clock.sleeperCount == 1 } }
            clock.advance(by: .seconds(10))
        }
        #expect(ends.withLockedValue { $0.values.allSatisfy { $0 } })
    }

    @Test("wait longer when their deadline is moved, the one that keeps watch too")
    func moved() async {
        let (first, second) = (deadline(in: .seconds(30)), deadline(in: .seconds(30)))
        _ = await start(0, first)
        _ = await start(1, second)
        first.extend(to: .seconds(90))
        second.extend(to: .seconds(60))
        clock.advance(by: .seconds(30))
        await reached { clock.sleeperCount == 1 }
        #expect(ends.withLockedValue { $0.isEmpty })
        clock.advance(by: .seconds(30))
        await reached { ends.withLockedValue { $0 } == [1: true] && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        await reached { ends.withLockedValue { $0 } == [0: true, 1: true] }
    }

    @Test("hand the watch on when the one that kept it ends, and no deadline is missed for that")
    func handedOn() async {
        let first = await start(0, deadline(in: .seconds(30)))
        let second = await start(1, deadline(in: .seconds(30)))
        _ = await start(2, deadline(in: .seconds(30)))
        second.cancel()
        await reached { ends.withLockedValue { $0 } == [1: false] && watch.waiting == (1, 0) }
        clock.advance(by: .seconds(5))
        first.cancel()
        await reached {
            ends.withLockedValue { $0 } == [0: false, 1: false] && watch.waiting == (0, 0) && clock.sleeperCount == 1
        }
        clock.advance(by: .seconds(24))
        _ = await start(3, deadline(in: .seconds(30)))
        clock.advance(by: .seconds(1))
        await reached { ends.withLockedValue { $0[2] } == true && clock.sleeperCount == 1 }
        #expect(ends.withLockedValue { $0[3] } == nil)
    }

    @Test("never end without a deadline, only when they are cancelled")
    func never() async {
        let task = await start(0, RequestDeadline(at: nil))
        for _ in 1...3 {
            clock.advance(by: .seconds(3_600))
            await reached { clock.sleeperCount == 1 }
        }
        #expect(ends.withLockedValue { $0.isEmpty })
        task.cancel()
        await reached { ends.withLockedValue { $0 } == [0: false] }
        #expect(clock.sleeperCount == 0)
    }

    @Test("leave nothing behind when they were cancelled before they waited")
    func cancelledBefore() async {
        for others in [0, 1] {
            if others == 1 { _ = await start(0, deadline(in: .seconds(30))) }
            let deadline = deadline(in: .seconds(30))
            let outcome = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await Result { try await watch.wait(for: deadline) }
            }.value
            #expect(throws: CancellationError.self) { try outcome.get() }
            #expect(watch.waiting == (0, 0) && clock.sleeperCount == others)
        }
    }

    @Test("neither miss a deadline nor lose a watcher when many come and go at once")
    func comingAndGoing() async {
        var random = SeededGenerator()
        var left: [Int: Task<Void, Never>] = [:]
        for number in 0..<300 {
            let deadline = deadline(in: .seconds(30))
            left[number] = Task {
                let ended: Void? = try? await watch.wait(for: deadline)
                ends.withLockedValue { $0[number] = ended != nil }
            }
            if Int.random(in: 0..<3, using: &random) > 0 {
                left.keys.randomElement(using: &random).flatMap { left.removeValue(forKey: $0) }?.cancel()
            }
            if Int.random(in: 0..<20, using: &random) == 0 { await Task.yield() }
        }
        await reached { ends.withLockedValue { $0.count } == 300 - left.count && watch.waiting.parked == left.count - 1 }
        await reached { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        await reached { ends.withLockedValue { $0.count } == 300 }
        #expect(ends.withLockedValue { ends in left.keys.allSatisfy { ends[$0] == true } }, "seed \(random.seed)")
        #expect(watch.waiting == (0, 0) && clock.sleeperCount == 0)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
