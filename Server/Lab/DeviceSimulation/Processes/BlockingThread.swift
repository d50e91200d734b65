import Foundation

/// A thread for work that blocks. `Thread` is in Foundation's larger half, which the program has anyway.
enum BlockingThread {
    /// Starts a thread with a small stack that ends with the body.
    static func start(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.stackSize = 256 << 10
        thread.start()
    }
}
