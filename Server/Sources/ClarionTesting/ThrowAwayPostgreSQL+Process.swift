import Foundation
import Synchronization

extension ThrowAwayPostgreSQL {
    private static let starting = Mutex<Task<ThrowAwayPostgreSQL, any Error>?>(nil)
    private static let started = Mutex<ThrowAwayPostgreSQL?>(nil)

    /// A server for all tests of the process; it ends with it.
    public static func ofProcess() async throws -> ThrowAwayPostgreSQL {
        let task = starting.withLock { starting in
            if let starting { return starting }
            let task = Task {
                let server = try ThrowAwayPostgreSQL()
                try await server.make()
                try await server.start()
                started.withLock { $0 = server }
                atexit { ThrowAwayPostgreSQL.started.withLock { $0?.end() } }
                return server
            }
            starting = task
            return task
        }
        return try await task.value
    }

    /// At the end of the process no task can wait.
    private func end() {
        let server = process.withLock { $0 }
        server?.signal(SIGQUIT)
        // While it still writes its folder cannot be removed as a whole.
        for _ in 0..<250 where server?.isRunning == true { usleep(20_000) }
        try? FileManager.default.removeItem(atPath: folder)
    }
}
