import Testing

@testable import ServerObservability

@Suite("Numbers of the process")
struct ProcessNumbersTests {
    private static let system = "cpu  1 2 3\nbtime 1000\nprocesses 5\n"

    private func read(_ own: String, system: String = Self.system) -> ProcessNumbers? {
        ProcessNumbers(own: own, system: system, openFiles: 7, ticksPerSecond: 100, pageSize: 4096)
    }

    @Test("are read from /proc, also for a program with blanks and brackets in its name")
    func parsing() throws {
        let fields = "S 1 2 3 4 5 6 7 8 9 10 250 50 13 14 15 16 17 18 500 20 3 22"
        for name in ["(clarion)", "(a ) (b)"] {
            let numbers = try #require(read("42 \(name) \(fields)"))
            #expect(numbers == ProcessNumbers(cpuSeconds: 3, residentBytes: 3 * 4096, startedAt: 1005, openFiles: 7))
        }
    }

    @Test("are absent where the text is cut off")
    func cutOff() {
        #expect(read("42 (clarion) S 1 2 3") == nil)
        #expect(read("") == nil)
        #expect(read("42 (clarion) S 1 2 3 4 5 6 7 8 9 10 250 50 13 14 15 16 17 18 500 20 3", system: "cpu 1") == nil)
    }

    #if os(Linux)
        @Test("of this process are plausible")
        func own() throws {
            let numbers = try #require(ProcessNumbers.current())
            #expect(numbers.residentBytes > 1 << 20)
            #expect(numbers.openFiles >= 3)
            #expect(numbers.startedAt > 1_000_000_000)
        }
    #endif
}
