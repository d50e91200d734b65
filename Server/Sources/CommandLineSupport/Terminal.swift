#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import ArgumentParser
import LongWork
import ServerSettings
import ServiceErrors

/// The user at the terminal: messages on standard error, and questions whose answers are not shown.
package enum Terminal {
    /// Writes a line that is no result.
    package static func note(_ line: String) { writeError(line + "\n") }

    /// Writes a line of output and flushes it, so that a reader of a pipe sees it at once.
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

    /// Does long work and shows its progress on standard error, which is no result: one line that is written anew on a terminal, and a line
    /// every ten seconds elsewhere.
    package static func showProgress<Result>(of work: (WorkProgress) async throws -> Result) async throws -> Result {
        let progress = WorkProgress()
        return try await progressDisplay.show(progress) { try await work(progress) }
    }

    /// Writes a line that is no result while progress is shown.
    package static func noteBesideProgress(_ line: String) { progressDisplay.note(line) }

    private static var progressDisplay: ProgressDisplay {
        // What calls itself dumb shows the codes that others obey.
        let isRewritable = isatty(STDERR_FILENO) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
        return ProgressDisplay(isRewritable ? .rewritten : .lines) { writeError($0) }
    }

    private static func writeError(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Asks a question; everything but `y` and `yes` is no.
    package static func confirm(_ question: String) -> Bool {
        note("\(question) [y/N]")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }

    /// Asks for a line. Throws `InputFault` at the end of the input.
    package static func ask(_ question: String) throws -> String {
        note(question)
        guard let line = readLine() else { throw InputFault("the input ended before an answer", .validationFailure) }
        return line
    }

    /// Asks for a password without showing it. Without a terminal it is the next line of standard input. Throws `InputFault` at the end of
    /// the input.
    package static func askPassword(_ question: String) throws -> SecretText {
        guard let line = isInteractive ? readHidden(question) : readLine() else {
            throw InputFault("no password was given", .validationFailure)
        }
        guard !line.isEmpty else { throw ValidationError("no password was given") }
        return SecretText(line)
    }

    /// Asks twice, as one does for a new password, and on a terminal again after one that does not fit. `check` throws why.
    package static func askNewPassword(_ check: (SecretText) throws -> Void = { _ in }) throws -> SecretText {
        try repeating {
            let first = try askPassword("New password:")
            try check(first)
            guard isInteractive else { return first }
            guard try askPassword("Once more:") == first else { throw ValidationError("the two passwords differ") }
            return first
        }
    }

    /// Asks again after an answer that does not fit, and says why; where no person can answer, the error passes.
    package static func repeating<Answer>(
        isInteractive: Bool = isInteractive, note: (String) -> Void = note, _ ask: () throws -> Answer
    ) throws -> Answer {
        while true {
            do { return try ask() } catch let error as ValidationError where isInteractive {
                note("clarion: \(error.message)")
            } catch let error as ServiceError where isInteractive {
                note("clarion: \(error.sentence)")
            }
        }
    }

    /// Asks when the terminal shows nothing any more: the change throws away what was typed before it.
    private static func readHidden(_ question: String) -> String? {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else {
            note(question)
            return readLine()
        }
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
        note(question)
        return readLine()
    }
}
