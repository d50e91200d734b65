import Foundation

/// Standard input, a line at a time. A thread reads, because reading blocks.
enum InputLines {
    /// The lines until the end of the input, once. A reader that is slower than a script loses nothing: the thread waits.
    static var all: AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .unbounded)
        let thread = Thread {
            // What is typed or piped is bounded by who writes it; a script of more lines than this is none.
            for _ in 0..<100_000 {
                guard let line = readLine() else { break }
                continuation.yield(line)
            }
            continuation.finish()
        }
        thread.start()
        return lines
    }
}
