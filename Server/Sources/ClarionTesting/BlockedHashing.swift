import Foundation
import SharedAccess
import Synchronization

/// Keeps all threads of a password hasher busy until it is let go, so that a test can look at what waits.
public final class BlockedHashing: Sendable {
    private let end = DispatchSemaphore(value: 0)
    private let threads: Int
    private let isReleased = Atomic(false)

    /// Returns when every thread is held.
    public init(_ hasher: PasswordHasher, threads: Int) async {
        self.threads = threads
        for _ in 0..<threads {
            let end = end
            await withCheckedContinuation { continuation in
                let isAccepted = hasher.occupy {
                    continuation.resume()
                    end.wait()
                }
                precondition(isAccepted, "nothing waits yet")
            }
        }
    }

    /// Lets the threads go on; calling it again does nothing.
    public func release() {
        guard !isReleased.exchange(true, ordering: .relaxed) else { return }
        for _ in 0..<threads { end.signal() }
    }
}
