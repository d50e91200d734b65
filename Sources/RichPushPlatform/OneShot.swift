#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation

    /// A completion block of the system, which is called once however many ways lead to its end: expiry and success race.
    ///
    /// The blocks are not `Sendable` in every version of the system's headers. `@unchecked` is safe here: the block is taken out
    /// inside the lock, so one thread alone ever calls it, and whoever needs a certain thread calls it on that thread.
    package final class OneShot<Value>: @unchecked Sendable {
        private let lock = NSLock()
        private var block: ((Value) -> Void)?

        package init(_ block: @escaping (Value) -> Void) { self.block = block }

        /// Calls the block unless that has happened.
        package func callAsFunction(_ value: Value) {
            lock.lock()
            let block = block
            self.block = nil
            lock.unlock()
            block?(value)
        }
    }

    extension OneShot where Value == Void {
        package func callAsFunction() { self(()) }
    }
#endif
