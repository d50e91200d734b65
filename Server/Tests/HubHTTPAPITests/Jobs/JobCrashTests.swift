import ClarionTesting
import HubProtocol
import RichPushModel
import Testing

@testable import PushHub

@Suite("Jobs of a node that is killed")
struct JobCrashTests {
    private static let count = 4000

    /// New registrations without names: a line that were applied twice would be two of them. One in ten lines fails.
    private static func file() -> String {
        (0..<count).map { number in
            let handle =
                number.isMultiple(of: 10) ? "no handle" : String(repeating: "0", count: 60) + String(10_000 + number).suffix(4)
            return RegistrationLines.line(RegistrationDescription(.apple, handle: handle, tags: ["n:\(number)"]))
        }.joined()
    }

    /// Runs a job with a node that dies again and again after a random number of steps; how often it died.
    private static func run(
        _ bench: JobBench, _ generator: inout SeededGenerator, batchBytes: Int? = nil
    ) async throws -> Int {
        var deaths = 0
        while true {
            let fuse = Fuse(Int.random(in: 1...30, using: &generator))
            let containers = FuseContainerStore(base: bench.containers, fuse: fuse)
            let node = bench.restarted(
                store: FuseJobStore(base: bench.jobStore, fuse: fuse), containers: containers, batchBytes: batchBytes)
            let worked = await node.runNext()
            #expect(containers.largest.withLockedValue { $0 } < 1 << 20, "pieces do not grow with the file")
            guard fuse.isGone else {
                if !worked { return deaths }
                continue
            }
            deaths += 1
            try #require(deaths < 1000)
            bench.clock.advance(by: .seconds(31))
        }
    }

    @Test(
        "an import goes on from its last committed line: nothing is done twice, nothing is lost, and both files are whole",
        arguments: JobFilePlace.allCases)
    func imports(place: JobFilePlace) async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let bench = try await JobBench(place)
        let container = try await bench.makeContainer()
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), Self.file(), as: .anonymous)
        let job = try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "in.txt"))
        let deaths = try await Self.run(bench, &generator)
        #expect(deaths > 0, "seed \(generator.seed)")
        let done = try await bench.job(job.id)
        #expect(done.status == .completed, "seed \(generator.seed)")
        let output = try await bench.file(done, "OutputFilePath").split(separator: "\n").map {
            try RegistrationLines.read(Array($0.utf8))
        }
        let expected = (0..<Self.count).filter { !$0.isMultiple(of: 10) }.map { "n:\($0)" }
        #expect(output.map { $0.tags.first ?? "" } == expected, "seed \(generator.seed)")
        let failed = try await bench.file(done, "FailedFilePath").split(separator: "\n")
        #expect(failed.count == Self.count / 10, "seed \(generator.seed)")
        #expect(try await bench.deviceStore.count(in: bench.hub.id) == expected.count, "seed \(generator.seed)")
        #expect(Set(output.compactMap(\.registrationID)).count == expected.count)
    }

    @Test("a node that dies again and again, and starts again each time, ends its import while the clock stands")
    func restarts() async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let bench = try await JobBench()
        let container = try await bench.makeContainer()
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), Self.file(), as: .anonymous)
        let job = try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "in.txt"))
        var deaths = 0
        for _ in 0..<1000 {
            let fuse = Fuse(Int.random(in: 1...30, using: &generator))
            let node = bench.restarted(
                store: FuseJobStore(base: bench.jobStore, fuse: fuse),
                containers: FuseContainerStore(base: bench.containers, fuse: fuse), owner: "node")
            await node.takeOver()
            let worked = await node.runNext()
            guard fuse.isGone || worked else { break }
            if fuse.isGone { deaths += 1 }
        }
        #expect(deaths > 0, "seed \(generator.seed)")
        let done = try await bench.job(job.id)
        #expect(done.status == .completed, "seed \(generator.seed)")
        #expect(try await bench.deviceStore.count(in: bench.hub.id) == Self.count * 9 / 10, "seed \(generator.seed)")
    }

    @Test("a node that starts leaves the jobs of the others alone")
    func othersGoOn() async throws {
        let bench = try await JobBench()
        _ = try await bench.submit(.exportRegistrations, output: try await bench.makeContainer())
        let now: Timestamp = bench.clock.now
        _ = try #require(await bench.jobStore.claim(owner: "other", until: now + Duration.seconds(30), at: now))
        let node = bench.restarted(store: bench.jobStore, containers: bench.containers, owner: "node")
        await node.takeOver()
        #expect(await !node.runNext())
    }

    @Test("an export goes on from its last committed page", arguments: JobFilePlace.allCases)
    func exports(place: JobFilePlace) async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let bench = try await JobBench(place)
        let container = try await bench.makeContainer()
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), Self.file(), as: .anonymous)
        _ = try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "in.txt"))
        #expect(await bench.jobs.runNext())
        let job = try await bench.submit(.exportRegistrations, output: container)
        _ = try await Self.run(bench, &generator)
        let done = try await bench.job(job.id)
        #expect(done.status == .completed, "seed \(generator.seed)")
        let lines = try await bench.file(done, "OutputFilePath").split(separator: "\n")
        #expect(lines.count == Self.count * 9 / 10 && Set(lines).count == lines.count, "seed \(generator.seed)")
    }

    @Test(
        "a worker that stalled until another had done its export leaves that one's file alone",
        arguments: JobFilePlace.allCases, [false, true])
    func stalled(place: JobFilePlace, isEarly: Bool) async throws {
        let bench = try await JobBench(place)
        let container = try await bench.makeContainer()
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), Self.file(), as: .anonymous)
        _ = try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "in.txt"))
        #expect(await bench.jobs.runNext())
        let job = try await bench.submit(.exportRegistrations, output: container)
        // It has opened its files when it stalls, or has not, for longer than its lease.
        let containers = StallingContainerStore(base: bench.containers, isEarly: isEarly) {
            bench.clock.advance(by: .seconds(31))
            #expect(await bench.jobs.runNext())
        }
        #expect(await bench.restarted(store: bench.jobStore, containers: containers).runNext())
        let done = try await bench.job(job.id)
        #expect(done.status == .completed)
        let lines = try await bench.file(done, "OutputFilePath").split(separator: "\n")
        #expect(lines.count == Self.count * 9 / 10)
        #expect(Set(lines).count == lines.count)
    }

    @Test("an export whose pages are cut because their lines are long has every registration once", arguments: [1, 3_000])
    func cutPages(bytes: Int) async throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let bench = try await JobBench()
        let container = try await bench.makeContainer()
        let names = (0..<40).map { "n:\($0)" }
        let file = names.enumerated().map { index, tag in
            let handle = String(repeating: "0", count: 62) + String(10 + index)
            return RegistrationLines.line(RegistrationDescription(.apple, handle: handle, tags: [tag]))
        }.joined()
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), file, as: .anonymous)
        _ = try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "in.txt"))
        #expect(await bench.jobs.runNext())
        let job = try await bench.submit(.exportRegistrations, output: container)
        #expect(try await Self.run(bench, &generator, batchBytes: bytes) > 0, "seed \(generator.seed)")
        let done = try await bench.job(job.id)
        #expect(done.status == .completed && done.progress == 100, "seed \(generator.seed)")
        let lines = try await bench.file(done, "OutputFilePath").split(separator: "\n").map {
            try RegistrationLines.read(Array($0.utf8)).tags.first ?? ""
        }
        #expect(lines.sorted() == names.sorted(), "seed \(generator.seed)")
    }
}
