// Two programs that show what the thread sanitizer sees with suppressions.txt: `mutex` has to pass, `unguarded` has to be reported.
import Dispatch
import Synchronization

final class Guarded: Sendable {
    let values = Mutex<[Int]>([])
}

/// Unchecked, since its threads must race: the sanitizer has to report them in spite of the exception.
final class Unguarded: @unchecked Sendable {
    var values: [Int] = Array(repeating: 0, count: 8)
}

if CommandLine.arguments.last == "mutex" {
    let guarded = Guarded()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
        for number in 0..<20_000 {
            guarded.values.withLock { values in
                values.append(number)
                if values.count > 50 { values.removeAll() }
            }
        }
    }
} else {
    let unguarded = Unguarded()
    DispatchQueue.concurrentPerform(iterations: 8) { index in
        for number in 0..<20_000 { unguarded.values[index] = number }
    }
}
