import ServiceErrors
import Synchronization

/// Lets small reads that wait at the same time share one transaction: after a push thousands of phones ask the same question
/// within a second, and changing threads costs more than the answer.
///
/// A question is always read after it was asked, so no caller gets a stale answer. The first caller reads at once and alone. Later
/// callers gather meanwhile, and one of them reads for all. When a full batch waits, another transaction begins in parallel. At most
/// `waitingLimit` callers wait; more are refused with `overloaded`.
final class SharedReads<Question: Sendable, Answer: Sendable>: Sendable {
    /// Answers in the order of the questions. May run more than once.
    typealias Work = @Sendable (_ questions: [Question], _ connection: any SQLConnection) throws -> [Answer]

    /// What a caller that waited has to do.
    private enum Turn: Sendable {
        case take(Answer)
        case fail(ServiceError)
        /// Read for these too.
        case lead([Waiting])
        /// What was read for many at a time failed, perhaps by the fault of another question.
        case readAlone
    }

    private struct Waiting: Sendable {
        let question: Question
        let continuation: CheckedContinuation<Turn, Never>
    }

    private struct State {
        var leaders = 0
        var waiting: [Waiting] = []

        /// Those who have waited the longest.
        mutating func takeBatch(_ limit: Int) -> [Waiting] {
            let batch = Array(waiting.prefix(limit))
            waiting.removeFirst(batch.count)
            return batch
        }
    }

    /// The most transactions at a time.
    private static var leaderLimit: Int { 4 }
    /// The most questions in a transaction.
    static var batchLimit: Int { 64 }

    private let database: any SQLDatabase
    private let waitingLimit: Int
    private let work: Work
    private let state = Mutex(State())

    init(_ database: any SQLDatabase, waitingLimit: Int = 8_192, _ work: @escaping Work) {
        self.database = database
        self.waitingLimit = waitingLimit
        self.work = work
    }

    /// How many callers are not part of a transaction yet.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func answer(to question: Question) async throws -> Answer {
        switch await turn(of: question) {
        case .take(let answer): return answer
        case .fail(let error): throw error
        case .lead(let others): return try await lead(question, others)
        case .readAlone: return try await read([question])[0]
        }
    }

    private func turn(of question: Question) async -> Turn {
        await withCheckedContinuation { continuation in
            let turn: Turn? = state.withLock { state in
                if state.leaders == 0 {
                    state.leaders = 1
                    return .lead([])
                }
                if state.leaders < Self.leaderLimit, state.waiting.count >= Self.batchLimit {
                    state.leaders += 1
                    return .lead(state.takeBatch(Self.batchLimit - 1))
                }
                guard state.waiting.count < waitingLimit else {
                    return .fail(ServiceError(.overloaded, "too many reads are waiting for the storage", retryAfter: 1))
                }
                state.waiting.append(Waiting(question: question, continuation: continuation))
                return nil
            }
            if let turn { continuation.resume(returning: turn) }
        }
    }

    private func lead(_ question: Question, _ others: [Waiting]) async throws -> Answer {
        defer { passOn() }
        do {
            let answers = try await read([question] + others.map(\.question))
            for (index, other) in others.enumerated() { other.continuation.resume(returning: .take(answers[index + 1])) }
            return answers[0]
        } catch {
            // If the leader was cancelled, its error may be only that.
            let shared = Task.isCancelled ? nil : (error as? ServiceError).flatMap { $0.code == .storageUnavailable ? $0 : nil }
            for other in others { other.continuation.resume(returning: shared.map { .fail($0) } ?? .readAlone) }
            guard shared == nil, !others.isEmpty, !Task.isCancelled else { throw error }
            return try await read([question])[0]
        }
    }

    /// Makes one of the callers that came meanwhile the leader.
    private func passOn() {
        let next: (leader: Waiting, others: [Waiting])? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.leaders -= 1
                return nil
            }
            let batch = state.takeBatch(Self.batchLimit)
            return (batch[0], Array(batch.dropFirst()))
        }
        if let next { next.leader.continuation.resume(returning: .lead(next.others)) }
    }

    private func read(_ questions: [Question]) async throws -> [Answer] {
        let work = work
        return try await database.reading { connection in
            let answers = try work(questions, connection)
            precondition(answers.count == questions.count, "one answer for each question")
            return answers
        }
    }
}
