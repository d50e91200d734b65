import ClarionTesting
import Foundation
import ServiceErrors
import Synchronization
import Testing

@testable import SQLStorage

@Suite("Reads that share a transaction", .timeLimit(.minutes(10)))
struct SharedReadTests {
    /// Notes which questions were read together, and can hold up transactions.
    private final class Notes: Sendable {
        let batches = Mutex<[[Int]]>([])
        private let turn = DispatchSemaphore(value: 0)
        private let isHolding = Mutex(true)

        func read(_ questions: [Int]) throws -> [Int] {
            batches.withLock { $0.append(questions) }
            if isHolding.withLock({ $0 }) { turn.wait() }
            if questions.contains(13) { throw SQLFault.unexpectedColumn(13) }
            return questions.map { $0 * 2 }
        }

        func release() {
            isHolding.withLock { $0 = false }
            for _ in 0..<2 { turn.signal() }
        }
    }

    /// What each question got.
    private final class Answers: Sendable {
        private let found = Mutex<[Int: Result<Int, any Error>]>([:])

        var all: [Int: Result<Int, any Error>] { found.withLock { $0 } }

        func ask(_ question: Int, _ reads: SharedReads<Int, Int>) async {
            let answer: Result<Int, any Error>
            do { answer = .success(try await reads.answer(to: question)) } catch { answer = .failure(error) }
            found.withLock { $0[question] = answer }
        }
    }

    /// A question is being read when the others come; what each got.
    private func answers(
        to others: [Int], waitingLimit: Int = 1_000, beside: Int = 0
    ) async throws -> (answers: [Int: Result<Int, any Error>], batches: [[Int]]) {
        let store = try await TemporaryStore()
        let notes = Notes()
        let reads = SharedReads<Int, Int>(store.database, waitingLimit: waitingLimit) { questions, _ in
            try notes.read(questions)
        }
        let answers = Answers()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await answers.ask(1, reads) }
            #expect(await eventually { notes.batches.withLock({ !$0.isEmpty }) })
            for question in others { group.addTask { await answers.ask(question, reads) } }
            #expect(await eventually { reads.waitingCount >= min(others.count, waitingLimit) })
            // One more than a batch, and the first is not done.
            if beside > 0 {
                group.addTask { await answers.ask(2, reads) }
                #expect(await eventually { notes.batches.withLock({ $0.count }) >= 2 })
            }
            #expect(await eventually { answers.all.count >= others.count - waitingLimit })
            notes.release()
        }
        return (answers.all, notes.batches.withLock { $0 })
    }

    @Test("a question that comes alone is read at once; those that wait meanwhile are read together, each after it was asked")
    func together() async throws {
        let (answers, batches) = try await answers(to: Array(100..<160))
        #expect(answers.count == 61)
        for (question, answer) in answers { #expect(try answer.get() == question * 2) }
        #expect(batches.map(\.count) == [1, 60])
    }

    @Test("when a full batch waits it does not wait for the one before")
    func beside() async throws {
        let (answers, batches) = try await answers(to: Array(100..<(100 + SharedReads<Int, Int>.batchLimit)), beside: 1)
        #expect(answers.count == 66)
        for (question, answer) in answers { #expect(try answer.get() == question * 2) }
        #expect(batches.map(\.count) == [1, 64, 1])
    }

    @Test("a question that cannot be answered spoils no other")
    func poisoned() async throws {
        let (answers, _) = try await answers(to: [10, 11, 12, 13, 14])
        for (question, answer) in answers {
            if question == 13 {
                #expect(throws: ServiceError.self) { try answer.get() }
            } else {
                #expect(try answer.get() == question * 2)
            }
        }
    }

    @Test("a caller is refused at once when too many wait, and gets a time to retry after")
    func bounded() async throws {
        let (answers, _) = try await answers(to: Array(100..<110), waitingLimit: 4)
        let refused = answers.values.compactMap { answer -> ServiceError? in
            if case .failure(let error) = answer { error as? ServiceError } else { nil }
        }
        #expect(refused.count == 6)
        #expect(refused.allSatisfy { $0.code == .overloaded && $0.retryAfter == 1 })
    }
}
