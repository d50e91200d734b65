import Synchronization

/// Collects the results that jobs got.
final class Answers: Sendable {
    private let values = Mutex<[Bool]>([])
    var all: [Bool] { values.withLock { $0 } }
    func add(_ value: Bool) { values.withLock { $0.append(value) } }
}
