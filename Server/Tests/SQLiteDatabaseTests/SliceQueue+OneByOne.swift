import PushHub

/// For queues of tests, which count checkpoints: several are as many calls.
extension SliceQueue {
    func checkpoints(_ checkpoints: [SliceCheckpoint]) async throws -> [CheckpointAnswer] {
        var answers: [CheckpointAnswer] = []
        for each in checkpoints { answers.append(try await checkpoint(each)) }
        return answers
    }
}
