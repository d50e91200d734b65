import PushHub
import RichPushModel
import ServiceErrors
import Testing

/// The ports that jobs work on, on one empty store.
public struct JobStorage: Sendable {
    public var jobs: any JobStore
    public var devices: any DeviceStore

    /// Creates a set of ports.
    public init(jobs: any JobStore, devices: any DeviceStore) {
        self.jobs = jobs
        self.devices = devices
    }
}

/// What a `JobStore` promises.
public enum JobStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<JobStorage>] = [
        keepsAJob, numbersOnce, boundsWhatWaits, oneAtATime, takesOverAndRefusesTheOld, commitsChangesWithProgress,
        tellsRefusals, waitsAfterRelease, freesOwn, freesAll,
        endsOnce, keepsTheMark,
    ]

    private static let container = ContainerName.random()

    private static func job(_ kind: HubJob.Kind = .importUpsert, total: Int64 = 100) throws -> NewJob {
        let name = try #require(BlobName("in/a.txt"))
        let input = BlobReference(hub: Sample.hub, container: container, name: name)
        return NewJob(kind: kind, output: container, folder: "demo", inputs: kind == .export ? [] : [input, input], total: total)
    }

    private static func create(
        _ storage: JobStorage, _ hub: HubID = Sample.hub, at now: Timestamp = Sample.start
    ) async throws -> HubJob { try await storage.jobs.create(try job(), limit: 10, in: hub, at: now) }

    private static func claim(
        _ storage: JobStorage, _ owner: String = "a", at now: Timestamp = Sample.start
    ) async throws -> JobLease? { try await storage.jobs.claim(owner: owner, until: now + .seconds(30), at: now) }

    private static let keepsAJob = StoragePromise<JobStorage>("a job comes back as it was stored, and with its progress") {
        storage in
        let created = try await create(storage)
        #expect(created.number == 1 && created.state == .waiting && created.progress == JobProgress(total: 100))
        #expect(created.inputs.map(\.name.text) == ["in/a.txt", "in/a.txt"] && created.outputFile == "demo/1/Output.txt")
        #expect(try await storage.jobs.job(1, in: Sample.hub) == created)
        #expect(try await storage.jobs.job(1, in: Sample.otherHub) == nil)
        let lease = try #require(try await claim(storage))
        var progress = JobProgress(total: 100)
        progress.done = 40
        progress.file = 1
        progress.line = 7
        progress.offset = 33
        progress.cursor = SliceKey(-5)
        progress.succeeded = 6
        progress.failed = 1
        progress.outputSize = 12
        progress.failedSize = 13
        progress.pendingOutput = "lines\n"
        progress.pendingFailed = "line\n"
        #expect(
            try await storage.jobs.checkpoint(
                lease, progress, state: .running, failure: nil, until: Sample.time(60), at: Sample.time(1)))
        let stored = try #require(try await storage.jobs.job(1, in: Sample.hub))
        #expect(stored.progress == progress && stored.state == .running && stored.updatedAt == Sample.time(1))
        #expect(stored.percentage == 40)
    }

    private static let numbersOnce = StoragePromise<JobStorage>("numbers count for each hub and are never given twice") {
        storage in
        #expect(try await create(storage).number == 1)
        #expect(try await create(storage).number == 2)
        #expect(try await storage.jobs.create(try job(.export), limit: 10, in: Sample.otherHub, at: Sample.start).number == 1)
        #expect(try await storage.jobs.jobs(in: Sample.hub, limit: 10).map(\.number) == [2, 1])
        #expect(try await storage.jobs.jobs(in: Sample.hub, limit: 1).map(\.number) == [2])
        for _ in 0..<2 {
            let lease = try #require(try await claim(storage))
            _ = try await storage.jobs.checkpoint(
                lease, lease.job.progress, state: .completed, failure: nil, until: Sample.start, at: Sample.start)
        }
        #expect(try await storage.jobs.sweep(endedBefore: Sample.start, limit: 10) == 0)
        #expect(try await storage.jobs.sweep(endedBefore: Sample.time(1), limit: 10) == 2)
        #expect(try await create(storage).number == 3)
    }

    private static let boundsWhatWaits = StoragePromise<JobStorage>("jobs that are not over are bounded for each hub") {
        storage in
        for _ in 0..<2 { _ = try await storage.jobs.create(try job(), limit: 2, in: Sample.hub, at: Sample.start) }
        do {
            _ = try await storage.jobs.create(try job(), limit: 2, in: Sample.hub, at: Sample.start)
            Issue.record("a third job was taken")
        } catch let error as ServiceError {
            #expect(error.code == .quotaExceeded)
        }
        _ = try await storage.jobs.create(try job(), limit: 2, in: Sample.otherHub, at: Sample.start)
    }

    private static let oneAtATime = StoragePromise<JobStorage>("of each hub one job is worked on at a time, the oldest first") {
        storage in
        for _ in 0..<2 { _ = try await create(storage) }
        _ = try await create(storage, Sample.otherHub)
        let first = try #require(try await claim(storage))
        let second = try #require(try await claim(storage))
        #expect(try await claim(storage) == nil)
        #expect([first.job.hub, second.job.hub].sorted() == [Sample.hub, Sample.otherHub])
        #expect(first.job.number == 1 && second.job.number == 1)
        let own = first.job.hub == Sample.hub ? first : second
        _ = try await storage.jobs.checkpoint(
            own, own.job.progress, state: .failed, failure: "no", until: Sample.start, at: Sample.start)
        #expect(try await storage.jobs.job(1, in: Sample.hub)?.failure == "no")
        let next = try #require(try await claim(storage))
        #expect(next.job.hub == Sample.hub && next.job.number == 2)
    }

    private static let takesOverAndRefusesTheOld = StoragePromise<JobStorage>(
        "a job whose lease ran out is taken again, and its old holder changes nothing any more"
    ) { storage in
        _ = try await create(storage)
        let old = try #require(try await claim(storage))
        #expect(try await claim(storage, "b", at: Sample.time(29)) == nil)
        let new = try #require(try await claim(storage, "b", at: Sample.time(30)))
        #expect(new.job.number == 1 && new.epoch > old.epoch)
        #expect(
            try await !storage.jobs.checkpoint(
                old, JobProgress(total: 1), state: .completed, failure: nil, until: Sample.time(90), at: Sample.time(31)))
        let change = RegistrationChange.put(try registration("phone"))
        let applied = try await storage.jobs.apply([change], for: old, until: Sample.time(90), at: Sample.time(31)) { _ in
            JobProgress(total: 1)
        }
        #expect(applied == nil)
        #expect(try await storage.devices.count(in: Sample.hub) == 0)
        #expect(try await storage.jobs.job(1, in: Sample.hub)?.progress == new.job.progress)
        // A checkpoint extends the lease.
        _ = try await storage.jobs.checkpoint(
            new, new.job.progress, state: .running, failure: nil, until: Sample.time(90), at: Sample.time(40))
        #expect(try await claim(storage, at: Sample.time(80)) == nil)
    }

    private static let commitsChangesWithProgress = StoragePromise<JobStorage>(
        "changes and the progress that reports them are stored together"
    ) { storage in
        _ = try await create(storage)
        let lease = try #require(try await claim(storage))
        let changes = try ["a", "b"].map { RegistrationChange.put(try registration($0)) }
        let applied = try await storage.jobs.apply(changes, for: lease, until: Sample.time(60), at: Sample.time(1)) { results in
            var progress = JobProgress(total: 2)
            progress.pendingOutput = results.compactMap { try? $0.get()?.id.text }.joined(separator: " ")
            return progress
        }
        #expect(applied?.pendingOutput == "a b")
        #expect(try await storage.jobs.job(1, in: Sample.hub)?.progress == applied)
        #expect(try await storage.devices.count(in: Sample.hub) == 2)
        #expect(try await storage.devices.device(try Sample.record("a"), in: Sample.hub)?.registeredAt == Sample.time(1))
    }

    private static let tellsRefusals = StoragePromise<JobStorage>("a change that is refused leaves the others as they are") {
        storage in
        _ = try await create(storage)
        let lease = try #require(try await claim(storage))
        let (a, b) = (try Sample.record("a"), try Sample.record("b"))
        let changes: [RegistrationChange] = [
            .put(try registration("a", .exists)), .put(try registration("a", .absent)), .put(try registration("a", .absent)),
            .put(try registration("b")), .remove(a, expecting: .version(9)), .remove(a, expecting: .exists),
            .remove(a, expecting: .exists),
        ]
        _ = try await storage.jobs.apply(changes, for: lease, until: Sample.time(60), at: Sample.time(1)) { results in
            var progress = JobProgress(total: 7)
            progress.pendingOutput = results.map(Self.word).joined(separator: " ")
            return progress
        }
        let progress = try await storage.jobs.job(1, in: Sample.hub)?.progress
        #expect(progress?.pendingOutput == "not-found a conflict b precondition-failed removed not-found")
        #expect(try await storage.devices.device(a, in: Sample.hub) == nil)
        #expect(try await storage.devices.device(b, in: Sample.hub)?.version == 1)
    }

    private static func word(_ result: Result<DeviceRecord?, ServiceError>) -> String {
        switch result {
        case .success(let record): record?.id.text ?? "removed"
        case .failure(let error): error.code.rawValue
        }
    }

    private static func registration(_ name: String, _ precondition: DevicePrecondition = .none) throws -> DeviceUpsert {
        var request = try Sample.device(name, handle: 1)
        request.kind = .registration
        request.precondition = precondition
        return request
    }

    private static let waitsAfterRelease = StoragePromise<JobStorage>(
        "a job that is given back waits, counts its attempts, and forgets them when it comes forward"
    ) { storage in
        _ = try await create(storage)
        let first = try #require(try await claim(storage))
        #expect(first.attempts == 0)
        try await storage.jobs.release(first, until: Sample.time(10), at: Sample.start)
        #expect(try await claim(storage, at: Sample.time(9)) == nil)
        let second = try #require(try await claim(storage, at: Sample.time(10)))
        #expect(second.attempts == 1)
        #expect(
            try await storage.jobs.checkpoint(
                second, second.job.progress, state: .running, failure: nil, until: Sample.time(40), at: Sample.time(10)))
        try await storage.jobs.release(second, until: Sample.time(11), at: Sample.time(10))
        #expect(try await claim(storage, at: Sample.time(11))?.attempts == 1)
    }

    private static let freesOwn = StoragePromise<JobStorage>(
        "the jobs of an owner that has restarted are ready at once, those of others are not"
    ) { storage in
        _ = try await create(storage)
        let old = try #require(try await claim(storage))
        #expect(try await storage.jobs.releaseAll(of: "b", at: Sample.start) == 0)
        #expect(try await claim(storage) == nil)
        // The clock was set back meanwhile.
        #expect(try await storage.jobs.releaseAll(of: "a", at: Sample.time(-60)) == 1)
        let new = try #require(try await claim(storage, at: Sample.time(-60)))
        #expect(new.job.number == old.job.number && new.epoch > old.epoch)
        #expect(new.attempts == 0)
        #expect(
            try await !storage.jobs.checkpoint(
                old, JobProgress(total: 1), state: .completed, failure: nil, until: Sample.time(60), at: Sample.start))
        #expect(try await storage.jobs.job(1, in: Sample.hub)?.progress == new.job.progress)
    }

    private static let freesAll = StoragePromise<JobStorage>(
        "where only one process may use the store, its start frees the jobs of every owner"
    ) { storage in
        _ = try await create(storage)
        _ = try await create(storage, Sample.otherHub)
        _ = try #require(try await claim(storage, "a"))
        _ = try #require(try await claim(storage, "b"))
        #expect(try await storage.jobs.releaseAll(of: nil, at: Sample.start) == 2)
        let again = [try await claim(storage, "c"), try await claim(storage, "c")].compactMap(\.?.job.hub)
        #expect(again.sorted() == [Sample.hub, Sample.otherHub])
        #expect(try await storage.jobs.releaseAll(of: nil, at: Sample.start) == 2)
        #expect(try await storage.jobs.releaseAll(of: nil, at: Sample.start) == 0)
    }

    private static let endsOnce = StoragePromise<JobStorage>("a job that is over is not taken again and changes no more") {
        storage in
        _ = try await create(storage)
        let lease = try #require(try await claim(storage))
        #expect(
            try await storage.jobs.checkpoint(
                lease, lease.job.progress, state: .completed, failure: nil, until: Sample.start, at: Sample.start))
        #expect(try await claim(storage, at: Sample.time(1000)) == nil)
        #expect(
            try await !storage.jobs.checkpoint(
                lease, lease.job.progress, state: .failed, failure: "x", until: Sample.start, at: Sample.start))
        #expect(try await storage.jobs.job(1, in: Sample.hub)?.state == .completed)
    }

    private static let keepsTheMark = StoragePromise<JobStorage>(
        "the mark of feedback is kept for each hub, and only a reader of the current mark moves it"
    ) { storage in
        #expect(try await storage.jobs.feedbackMark(in: Sample.hub) == 0)
        #expect(try await storage.jobs.moveFeedbackMark(from: 0, to: 7, in: Sample.hub))
        _ = try await create(storage)
        #expect(try await storage.jobs.moveFeedbackMark(from: 7, to: 9, in: Sample.hub))
        #expect(try await !storage.jobs.moveFeedbackMark(from: 7, to: 8, in: Sample.hub))
        #expect(try await storage.jobs.feedbackMark(in: Sample.hub) == 9)
        #expect(try await storage.jobs.feedbackMark(in: Sample.otherHub) == 0)
    }
}
