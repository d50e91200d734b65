#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import ArgumentParser
import ServerSettings

/// The person at the other end: messages on standard error, and questions whose answers are not shown.
package enum Terminal {
    /// Writes a line that is no result.
    package static func note(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Writes a line of result at once, also into a pipe, so that whoever waits for it sees it.
    package static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// The same past the buffers of C's library: flushing those waits for a thread that reads standard input.
    package static func sayUnbuffered(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = write(STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Whether a question can be asked.
    package static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 }

    /// Shows how far long work is, on standard error: one line that is written anew four times a second on a terminal, else a line
    /// every ten seconds. `done` is in bytes, as `total`.
    package static func showProgress(
        of total: Int64, done: @escaping @Sendable () -> Int64, during work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (meter, start, isTerminal) = (ProgressMeter(total: total), ContinuousClock.now, isatty(STDERR_FILENO) == 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            group.addTask {
                while (try? await Task.sleep(for: isTerminal ? .milliseconds(250) : .seconds(10))) != nil {
                    let line = meter.line(done: done(), after: ContinuousClock.now - start)
                    if isTerminal { noteInPlace(line) } else { note(line) }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        if isTerminal { noteInPlace("") }
    }

    /// Writes over the line of the cursor.
    private static func noteInPlace(_ line: String) {
        let bytes = Array("\r\u{1B}[2K\(line)".utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Asks a question; everything but `y` and `yes` is no.
    package static func confirm(_ question: String) -> Bool {
        note("\(question) [y/N]")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }

    /// Asks for a password without showing it. Without a terminal it is the next line of standard input.
    package static func askPassword(_ question: String) throws -> SecretText {
        let isTerminal = isatty(STDIN_FILENO) == 1
        if isTerminal { note(question) }
        guard let line = isTerminal ? readHidden() : readLine(), !line.isEmpty else {
            throw ValidationError("no password was given")
        }
        return SecretText(line)
    }

    /// Asks twice, as one does for a new password.
    package static func askNewPassword() throws -> SecretText {
        let first = try askPassword("New password:")
        guard isatty(STDIN_FILENO) == 1 else { return first }
        guard try askPassword("Once more:") == first else { throw ValidationError("the two passwords differ") }
        return first
    }

    private static func readHidden() -> String? {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return readLine() }
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
        return readLine()
    }
}
