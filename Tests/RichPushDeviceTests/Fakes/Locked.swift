import Foundation

/// A value behind a lock, for fakes that are called from any task.
/// `@unchecked` is safe: the value is only touched inside the lock.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ work: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try work(&value)
    }
}
