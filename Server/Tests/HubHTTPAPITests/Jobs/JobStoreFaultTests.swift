import ClarionTesting
import HubProtocol
import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import Testing

@Suite("Jobs whose files go away")
struct JobStoreFaultTests {
    /// Files whose store goes away before the n-th write.
    private struct LeavingContainerStore: ContainerStore {
        let base: any ContainerStore
        let writes = NIOLockedValueBox(0)
        let last: Int
        let leave: @Sendable () async throws -> Void

        func append(to blob: BlobReference, at offset: Int64) async throws -> any BlobAppending {
            Appending(base: try await base.append(to: blob, at: offset), store: self)
        }

        func put(_ blob: BlobReference, limit: Int64) async throws -> any BlobUpload { try await base.put(blob, limit: limit) }

        func open(_ blob: BlobReference) async throws -> (any BlobReading)? { try await base.open(blob) }

        func list(
            _ container: ContainerName, of hub: HubID, prefix: String, after name: BlobName?, limit: Int
        ) async throws -> [BlobInformation] {
            try await base.list(container, of: hub, prefix: prefix, after: name, limit: limit)
        }

        func remove(_ blob: BlobReference) async throws -> Bool { try await base.remove(blob) }

        func sweep(writtenBefore moment: Timestamp) async throws -> Int { try await base.sweep(writtenBefore: moment) }

        private struct Appending: BlobAppending {
            let base: any BlobAppending
            let store: LeavingContainerStore

            func write(_ chunk: [UInt8]) async throws {
                let count = store.writes.withLockedValue { writes in
                    writes += 1
                    return writes
                }
                if count == store.last { try await store.leave() }
                try await base.write(chunk)
            }

            func cut(to size: Int64) async throws { try await base.cut(to: size) }

            func synchronize() async throws { try await base.synchronize() }
        }
    }

    @Test("a bucket that goes away after a commit makes the job wait; it goes on where it was, and both files are whole")
    func away() async throws {
        let bucket = try await JobFilePlace.makeBucket()
        let proxy = try await FaultProxy(to: try await ThrowAwayS3.running().plain)
        let bench = try await JobBench(containers: try await JobFilePlace.files(in: bucket))
        let container = try await bench.makeContainer()
        let lines = (0..<3000).map { number in
            let handle = number.isMultiple(of: 10) ? "no handle" : String(repeating: "0", count: 60) + "\(5000 + number)"
            return RegistrationLines.line(RegistrationDescription(.apple, handle: handle, tags: ["n:\(number)"]))
        }
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), lines.joined(), as: .anonymous)
        let job = try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "in.txt"))
        let files = LeavingContainerStore(
            base: try await JobFilePlace.files(in: bucket, through: proxy.port), last: 5,
            leave: { proxy.set(.answer("HTTP/1.1 503 Gone\r\nContent-Length: 0\r\n\r\n", times: 10_000)) })
        let node = bench.restarted(store: bench.jobStore, containers: files)
        #expect(await node.runNext())
        let waiting = try await bench.job(job.id)
        #expect(waiting.status != .completed)
        #expect(waiting.status != .failed)
        #expect(waiting.progress ?? 0 > 0)
        #expect(await !node.runNext(), "it waits before it is tried again")
        for _ in 0..<2 {
            bench.clock.advance(by: .seconds(61))
            #expect(await node.runNext())
            #expect(try await bench.job(job.id).status != .failed)
        }
        proxy.set(.none)
        bench.clock.advance(by: .seconds(61))
        #expect(await node.runNext())
        let done = try await bench.job(job.id)
        #expect(done.status == .completed)
        let output = try await bench.file(done, "OutputFilePath").split(separator: "\n").map {
            try RegistrationLines.read(Array($0.utf8)).tags.first ?? ""
        }
        #expect(output == (0..<3000).filter { !$0.isMultiple(of: 10) }.map { "n:\($0)" })
        #expect(try await bench.file(done, "FailedFilePath").split(separator: "\n").count == 300)
        #expect(try await bench.deviceStore.count(in: bench.hub.id) == 2700)
        try await proxy.stop()
    }

    @Test("who has lost the lease of a job cannot end it, nor cut its files", arguments: JobFilePlace.allCases)
    func late(place: JobFilePlace) async throws {
        let bench = try await JobBench(place)
        let container = try await bench.makeContainer()
        let lines = (0..<1200).map { number in
            RegistrationLines.line(
                RegistrationDescription(.apple, handle: String(repeating: "0", count: 60) + "\(5000 + number)", tags: []))
        }
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), lines.joined(), as: .anonymous)
        let job = try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "in.txt"))
        // It is about to fail the job, and stalls when it has read how far the job is: another does it meanwhile.
        let store = StallingJobStore(base: bench.jobStore) {
            bench.clock.advance(by: .seconds(31))
            #expect(await bench.jobs.runNext())
        }
        #expect(await bench.restarted(store: store, containers: bench.containers, findsHub: false).runNext())
        let done = try await bench.job(job.id)
        #expect(done.status == .completed)
        #expect(done.failure == nil)
        #expect(try await bench.file(done, "OutputFilePath").split(separator: "\n").count == 1200)
    }

    /// The job of an import of so many lines.
    private static func submit(_ bench: JobBench, lines count: Int) async throws -> HubJobDocument {
        let container = try await bench.makeContainer()
        let lines = (0..<count).map { number in
            RegistrationLines.line(
                RegistrationDescription(.apple, handle: String(repeating: "0", count: 60) + "\(5000 + number)", tags: []))
        }
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), lines.joined(), as: .anonymous)
        return try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "in.txt"))
    }

    @Test(
        "a job that is recorded as failed is only ended, by the node that takes it over",
        arguments: JobFilePlace.allCases)
    func tooLate(place: JobFilePlace) async throws {
        let bench = try await JobBench(place)
        let job = try await Self.submit(bench, lines: 1200)
        // It is about to fail the job, has written that down, and stalls at the files: another takes the job meanwhile.
        let containers = StallingContainerStore(base: bench.containers, isEarly: false) {
            let waiting = try? await bench.job(job.id)
            #expect(waiting?.status == .running)
            #expect(waiting?.failure == nil)
            bench.clock.advance(by: .seconds(31))
            #expect(await bench.jobs.runNext())
        }
        #expect(await bench.restarted(store: bench.jobStore, containers: containers, findsHub: false).runNext())
        let done = try await bench.job(job.id)
        #expect(done.status == .failed)
        #expect(done.failure == "the hub was removed")
        #expect(try await bench.file(done, "OutputFilePath").isEmpty)
        #expect(try await bench.deviceStore.count(in: bench.hub.id) == 0)
    }

    @Test(
        "a job fails with whole files, wherever the process dies that ends it, and nothing stays behind their end",
        arguments: JobFilePlace.allCases)
    func failing(place: JobFilePlace) async throws {
        for steps in 1...40 {
            let bench = try await JobBench(place)
            let job = try await Self.submit(bench, lines: 700)
            let begun = Fuse(6)
            let first = bench.restarted(
                store: FuseJobStore(base: bench.jobStore, fuse: begun),
                containers: FuseContainerStore(base: bench.containers, fuse: begun))
            #expect(await first.runNext() && begun.isGone)
            let number = try #require(job.id.flatMap { Int64($0) })
            let kept = try #require(try await bench.jobStore.job(number, in: bench.hub.id))
            #expect(!kept.progress.pendingOutput.isEmpty)
            #expect(!kept.state.isFinal)
            let name = try #require(BlobName(kept.outputFile))
            let output = BlobReference(hub: kept.hub, container: kept.output, name: name)
            let junk = try await bench.containers.append(to: output, at: kept.progress.outputSize)
            try await junk.write(Array(kept.progress.pendingOutput.utf8))
            try await junk.write(Array("what is not committed".utf8))
            bench.clock.advance(by: .seconds(31))
            let fuse = Fuse(steps)
            let dying = bench.restarted(
                store: FuseJobStore(base: bench.jobStore, fuse: fuse),
                containers: FuseContainerStore(base: bench.containers, fuse: fuse), findsHub: false)
            #expect(await dying.runNext())
            bench.clock.advance(by: .seconds(31))
            let last = bench.restarted(store: bench.jobStore, containers: bench.containers, findsHub: false)
            _ = await last.runNext()
            let done = try await bench.job(job.id)
            #expect(done.status == .failed && done.failure == "the hub was removed", "\(steps) steps")
            #expect(try await bench.file(done, "OutputFilePath") == kept.progress.pendingOutput, "\(steps) steps")
            if !fuse.isGone { return }
        }
        Issue.record("it never came to its end")
    }
}
