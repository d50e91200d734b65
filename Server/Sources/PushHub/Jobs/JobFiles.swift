import ServiceErrors

/// The two files of a job, written from where the committed progress says they are; what is pending is written at once.
///
/// A worker that stalls may come back when another has gone on in its place. All write the same bytes at the same places, and only
/// who has done the last page, and so had the lease until then, cuts off what a worker that died may have left behind.
struct JobFiles {
    private let output: any BlobAppending
    private let failed: any BlobAppending

    /// Opens the files; `progress` then counts what is pending as written.
    init(_ job: HubJob, _ containers: any ContainerStore, _ progress: inout JobProgress) async throws {
        guard let outputName = BlobName(job.outputFile), let failedName = BlobName(job.failedFile) else {
            throw JobFault(reason: "the names of its files are not valid")
        }
        output = try await Self.opened(
            BlobReference(hub: job.hub, container: job.output, name: outputName), at: progress.outputSize, containers)
        failed = try await Self.opened(
            BlobReference(hub: job.hub, container: job.output, name: failedName), at: progress.failedSize, containers)
        try await write(&progress)
    }

    /// A file that was removed in the middle, or lies where files lay before a bucket was set, must not end as one that is complete.
    private static func opened(
        _ blob: BlobReference, at size: Int64, _ containers: any ContainerStore
    ) async throws -> any BlobAppending {
        if size > 0, try await containers.open(blob)?.size ?? 0 < size {
            throw JobFault(reason: "the file \(blob.name), of which a part was written, is not there any more")
        }
        return try await containers.append(to: blob, at: size)
    }

    /// Ends the files where the progress does. To be called once everything is written, before the job is called over.
    func finish(_ progress: JobProgress) async throws {
        try await output.cut(to: progress.outputSize)
        try await failed.cut(to: progress.failedSize)
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
