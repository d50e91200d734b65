import RichPushModel

/// Shows how far long work is while it runs.
public struct ProgressDisplay: Sendable {
    /// What can be done with the place where it is shown.
    public enum Style: Hashable, Sendable {
        /// A terminal: one line that is written anew four times a second, and is gone when the work ends.
        case rewritten
        /// A file, a pipe or a log: a line every ten seconds.
        case lines

        fileprivate var pause: Duration { self == .rewritten ? .milliseconds(250) : .seconds(10) }
    }

    /// To the start of the line, which is emptied.
    private static let emptied = "\r\u{1B}[2K"
    /// Around a line: the terminal cuts it at its edge. A line that goes on in the next one could not be written anew.
    private static let (unwrapped, wrapped) = ("\u{1B}[?7l", "\u{1B}[?7h")

    private let style: Style
    private let write: @Sendable (String) -> Void

    /// Creates a display that hands its text to `write`, in pieces that belong together.
    public init(_ style: Style, write: @escaping @Sendable (String) -> Void) {
        self.style = style
        self.write = write
    }

    /// Does the work and shows its progress meanwhile. Work that is shorter than a pause between two lines shows none. Throws what the
    /// work throws.
    public func show<Result>(_ progress: WorkProgress, during work: () async throws -> Result) async throws -> Result {
        // Before the result or the error is written there.
        defer { if style == .rewritten { write(Self.emptied) } }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await follow(progress) }
            defer { group.cancelAll() }
            return try await work()
        }
    }

    /// Writes a sentence in a line of its own, which stays.
    public func note(_ sentence: String) { write("\(style == .rewritten ? Self.emptied : "")\(sentence)\n") }

    /// Until it is cancelled.
    private func follow(_ progress: WorkProgress) async {
        while (try? await progress.clock.sleep(for: style.pause)) != nil {
            guard let line = progress.line else { continue }
            switch style {
            case .rewritten: write("\(Self.emptied)\(Self.unwrapped)\(line)\(Self.wrapped)")
            case .lines: write("\(line)\n")
            }
        }
    }
}
