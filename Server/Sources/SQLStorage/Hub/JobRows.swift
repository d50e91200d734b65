import PushHub
import RichPushModel

/// Jobs as rows.
enum JobRows {
    /// The columns in the order in which `job` and `lease` read them.
    static let columns = """
        hub_id, number, kind, state, output, folder, inputs, failure, created_at, updated_at, total, done, file, line, \
        file_offset, cursor_key, succeeded, failed, output_size, failed_size, pending_output, pending_failed, epoch, attempts
        """

    static func lease(_ row: SQLRow) throws -> JobLease {
        JobLease(job: try job(row), epoch: try row.integer(22), attempts: Int(try row.integer(23)))
    }

    static func job(_ row: SQLRow) throws -> HubJob {
        let hub = HubID(try row.integer(0))
        guard let kind = HubJob.Kind(rawValue: try row.text(2)) else { throw SQLFault.unexpectedColumn(2) }
        guard let state = HubJob.State(rawValue: try row.text(3)) else { throw SQLFault.unexpectedColumn(3) }
        guard let output = ContainerName(try row.text(4)) else { throw SQLFault.unexpectedColumn(4) }
        return HubJob(
            hub: hub, number: try row.integer(1), kind: kind, state: state, output: output, folder: try row.text(5),
            inputs: try inputs(try row.text(6), hub), progress: try progress(row), failure: try row.optionalText(7),
            createdAt: Timestamp(milliseconds: try row.integer(8)), updatedAt: Timestamp(milliseconds: try row.integer(9)))
    }

    private static func progress(_ row: SQLRow) throws -> JobProgress {
        var progress = JobProgress(total: try row.integer(10))
        progress.done = try row.integer(11)
        progress.file = Int(try row.integer(12))
        progress.line = Int(try row.integer(13))
        progress.offset = try row.integer(14)
        progress.cursor = SliceKey(try row.integer(15))
        progress.succeeded = try row.integer(16)
        progress.failed = try row.integer(17)
        progress.outputSize = try row.integer(18)
        progress.failedSize = try row.integer(19)
        progress.pendingOutput = try row.text(20)
        progress.pendingFailed = try row.text(21)
        return progress
    }

    /// The values of a progress in the order of its columns.
    static func values(_ progress: JobProgress) -> [SQLValue] {
        [
            .integer(progress.total), .integer(progress.done), .integer(Int64(progress.file)), .integer(Int64(progress.line)),
            .integer(progress.offset), .integer(progress.cursor.number), .integer(progress.succeeded), .integer(progress.failed),
            .integer(progress.outputSize), .integer(progress.failedSize), .text(progress.pendingOutput),
            .text(progress.pendingFailed),
        ]
    }

    /// The values of a new row.
    static func values(_ job: NewJob, number: Int64, _ hub: HubID, _ now: Timestamp) -> [SQLValue] {
        // Neither part of a file's name has a line end, and that of a container has no slash.
        let inputs = job.inputs.map { "\($0.container.text)/\($0.name.text)" }.joined(separator: "\n")
        let state = HubJob.State.waiting.rawValue
        return [
            .integer(hub.number), .integer(number), .text(job.kind.rawValue), .text(state), .text(job.output.text),
            .text(job.folder), .text(inputs), .integer(now.milliseconds),
        ] + values(JobProgress(total: job.total))
    }

    private static func inputs(_ text: String, _ hub: HubID) throws -> [BlobReference] {
        try text.split(separator: "\n").map { line in
            guard let slash = line.firstIndex(of: "/"), let container = ContainerName(String(line[..<slash])),
                let name = BlobName(String(line[line.index(after: slash)...]))
            else { throw SQLFault.unexpectedColumn(6) }
            return BlobReference(hub: hub, container: container, name: name)
        }
    }
}
