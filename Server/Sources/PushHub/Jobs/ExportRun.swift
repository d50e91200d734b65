/// Writes every registration of a hub to a file, page by page in the order of keys. Installations are none: they come with the
/// next start of their app. A registration that comes or goes meanwhile may be in the
/// file or not; one that does neither is in it once.
struct ExportRun {
    private let jobs: HubJobs
    private let lease: JobLease

    init(_ jobs: HubJobs, _ lease: JobLease) {
        self.jobs = jobs
        self.lease = lease
    }

    /// Whether the job came to its end; `false` when somebody else works on it now.
    func run() async throws -> Bool {
        var progress = lease.job.progress
        let files = try await JobFiles(lease.job, jobs.containers, &progress)
        while true {
            try Task.checkCancellation()
            let request = DeviceListRequest(.all, after: progress.cursor, limit: jobs.settings.pageSize)
            let page = try await jobs.devices.devices(request, in: lease.job.hub)
            let (lines, taken) = lines(of: page.records)
            // Committed before it is written, as imports do: who has lost the lease learns it before it touches the file, which by
            // then is another's.
            progress.pendingOutput = lines
            progress.succeeded += Int64(taken.count { $0.kind == .registration })
            progress.done += Int64(taken.count)
            let isLast = page.next == nil && taken.count == page.records.count
            progress.cursor = isLast ? .last : taken.last?.sliceKey ?? .last
            guard try await commit(progress, isOver: false) else { return false }
            try await files.write(&progress)
            guard isLast else { continue }
            try await files.finish(progress)
            return try await commit(progress, isOver: true)
        }
    }

    /// The lines of as many records as fit into a commit: templates may be long.
    private func lines(of records: [DeviceRecord]) -> (lines: String, taken: ArraySlice<DeviceRecord>) {
        var lines = ""
        for (index, record) in records.enumerated() {
            if record.kind == .registration { lines += jobs.format.line(for: record) }
            if lines.utf8.count >= jobs.settings.batchBytes { return (lines, records[...index]) }
        }
        return (lines, records[...])
    }

    private func commit(_ progress: JobProgress, isOver: Bool) async throws -> Bool {
        try await jobs.store.checkpoint(
            lease, progress, state: isOver ? .completed : .running, failure: nil, until: jobs.deadline, at: jobs.clock.now)
    }
}
