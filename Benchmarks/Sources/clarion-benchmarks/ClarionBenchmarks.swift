import Foundation

/// `clarion-benchmarks PROGRAM [ROUNDS]` measures the built program, prints a table and ends with 1 when a limit is missed.
@main
enum ClarionBenchmarks {
    static func main() throws {
        guard CommandLine.arguments.count > 1 else {
            print("usage: clarion-benchmarks PROGRAM [ROUNDS]")
            exit(64)
        }
        let program = CommandLine.arguments[1]
        let rounds = CommandLine.arguments.dropFirst(2).first.flatMap(Int.init) ?? 5
        let results = try ServeBenchmark(program: program, rounds: max(1, rounds)).run()
        for line in Measurement.table(results) { print(line) }
        if results.contains(where: { !$0.isWithinLimit }) { exit(1) }
    }
}
