import ServiceErrors

/// The lines of an import that are committed together.
struct ImportBatch: Sendable {
    private enum Entry {
        case change(Int, RegistrationChange)
        case refused(String)
    }

    private var entries: [(line: LineSplitter.Line, entry: Entry)] = []
    private var byteCount = 0
    private(set) var changes: [RegistrationChange] = []

    var isEmpty: Bool { entries.isEmpty }

    func isFull(_ settings: HubJobs.Settings) -> Bool {
        entries.count >= settings.batchLines || byteCount >= settings.batchBytes
    }

    mutating func add(_ line: LineSplitter.Line, _ change: RegistrationChange) {
        byteCount += line.bytes?.count ?? 0
        entries.append((line, .change(changes.count, change)))
        changes.append(change)
    }

    mutating func refuse(_ line: LineSplitter.Line, _ reason: String) {
        byteCount += line.bytes?.count ?? 0
        entries.append((line, .refused(reason)))
    }

    /// The progress with these lines, which had these results.
    func report(
        _ results: [Result<DeviceRecord?, ServiceError>], after before: JobProgress, _ format: any HubFileFormat
    ) -> JobProgress {
        var progress = before
        for (line, entry) in entries {
            switch entry {
            case .refused(let reason): fail(line, reason, &progress, format)
            case .change(let index, let change):
                switch results[index] {
                case .success(let record?): succeed(format.line(for: record), &progress)
                case .success(nil):
                    if case .remove(let id, _) = change { succeed(format.line(forRemoved: id), &progress) }
                case .failure(let error): fail(line, error.reason, &progress, format)
                }
            }
        }
        if let last = entries.last?.line {
            progress.done += Int64(last.end) - progress.offset
            progress.line = last.number
            progress.offset = Int64(last.end)
        }
        return progress
    }

    private func succeed(_ line: String, _ progress: inout JobProgress) {
        progress.succeeded += 1
        progress.pendingOutput += line
    }

    private func fail(
        _ line: LineSplitter.Line, _ reason: String, _ progress: inout JobProgress, _ format: any HubFileFormat
    ) {
        progress.failed += 1
        progress.pendingFailed += format.line(failed: line.bytes, number: line.number, reason: reason)
    }
}
