import ServiceErrors

/// The two files of a job, brought to where the committed progress says they are: what lies behind that is cut off, what is
/// pending is written.
struct JobFiles {
    private let output: any BlobAppending
    private let failed: any BlobAppending

    /// Opens the files; `progress` then counts what is pending as written.
    init(_ job: HubJob, _ containers: any ContainerStore, _ progress: inout JobProgress) async throws {
        guard let outputName = BlobName(job.outputFile), let failedName = BlobName(job.failedFile) else {
            throw JobFault(reason: "the names of its files are not valid")
        }
        output = try await containers.append(
            to: BlobReference(hub: job.hub, container: job.output, name: outputName), at: progress.outputSize)
        failed = try await containers.append(
            to: BlobReference(hub: job.hub, container: job.output, name: failedName), at: progress.failedSize)
        try await write(&progress)
    }

    /// Writes what is pending, durably.
    func write(_ progress: inout JobProgress) async throws {
        if !progress.pendingOutput.isEmpty {
            try await output.write(Array(progress.pendingOutput.utf8))
            try await output.synchronize()
        }
        if !progress.pendingFailed.isEmpty {
            try await failed.write(Array(progress.pendingFailed.utf8))
            try await failed.synchronize()
        }
        progress.outputSize += Int64(progress.pendingOutput.utf8.count)
        progress.failedSize += Int64(progress.pendingFailed.utf8.count)
        progress.pendingOutput = ""
        progress.pendingFailed = ""
    }
}
