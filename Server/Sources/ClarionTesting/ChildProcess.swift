import Foundation
import Synchronization

/// A program started by a test.
///
/// Foundation's `Process` notices the end of a child by the closing of a socket that children started at the same moment inherit:
/// two tests that start processes side by side can wait for each other forever. Here a thread waits for the child itself.
public final class ChildProcess: Sendable {
    /// Why a program could not be started.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// What to start.
    public struct Command: Sendable {
        /// A name to look for on PATH, or a path.
        public var program: String
        public var arguments: [String]
        /// All of the child's variables; nil hands on those of the test.
        public var environment: [String: String]?
        /// The file that receives what the child prints; it is made anew.
        public var output: String
        /// Whether error messages go to the same file; else they are printed with the test's own.
        public var capturesErrors = true

        public init(_ program: String, _ arguments: [String] = [], output: String) {
            self.program = program
            self.arguments = arguments
            self.output = output
        }
    }

    private enum State {
        case running(waiting: [CheckedContinuation<Int32, Never>])
        case ended(Int32)
    }

    /// The number by which the system knows it.
    public let processID: Int32
    private let state = Mutex(State.running(waiting: []))

    /// Starts the program; throws when there is none of that name.
    public init(_ command: Command) throws {
        processID = try Self.spawn(command)
        // A thread of its own: waiting blocks, and threads of the pools must not.
        let thread = Thread { [self] in reap() }
        thread.stackSize = 1 << 17
        thread.start()
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool {
        state.withLock { if case .running = $0 { true } else { false } }
    }

    /// Sends a signal, unless the child has ended: its number may belong to another by then.
    public func signal(_ number: Int32) {
        state.withLock { if case .running = $0 { kill(processID, number) } }
    }

    /// Waits for the end. Returns the exit status, or 128 and the signal's number as shells do.
    public func exitStatus() async -> Int32 {
        await withCheckedContinuation { continuation in
            let ended = state.withLock { state -> Int32? in
                switch state {
                case .ended(let status): return status
                case .running(let waiting):
                    state = .running(waiting: waiting + [continuation])
                    return nil
                }
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }

    private func reap() {
        var info = siginfo_t()
        // The child is reaped only under the lock, so that no signal can reach another process that got its number.
        while waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        let waiting = state.withLock { state -> ([CheckedContinuation<Int32, Never>], Int32) in
            var status: Int32 = 0
            while waitpid(processID, &status, 0) == -1, errno == EINTR {}
            let signal = status & 0x7f
            let result = signal == 0 ? (status >> 8) & 0xff : 128 + signal
            guard case .running(let waiting) = state else { return ([], result) }
            state = .ended(result)
            return (waiting, result)
        }
        for continuation in waiting.0 { continuation.resume(returning: waiting.1) }
    }
}
