import RichPushModel
import ServiceErrors

/// Reads the files of an import line by line and makes the changes they ask for, some hundred in each transaction.
struct ImportRun {
    private let jobs: HubJobs
    private let lease: JobLease
    private let hub: NotificationHub
    private static let pieceBytes = 64 * 1024

    init(_ jobs: HubJobs, _ lease: JobLease, _ hub: NotificationHub) {
        self.jobs = jobs
        self.lease = lease
        self.hub = hub
    }

    /// Whether the job came to its end; `false` when another node works on it now.
    func run() async throws -> Bool {
        var progress = lease.job.progress
        let files = try await JobFiles(lease.job, jobs.containers, &progress)
        while progress.file < lease.job.inputs.count {
            guard try await read(lease.job.inputs[progress.file], &progress, files) else { return false }
            progress.file += 1
            progress.line = 0
            progress.offset = 0
        }
        try await files.finish(progress)
        return try await jobs.store.checkpoint(
            lease, progress, state: .completed, failure: nil, until: jobs.deadline, at: jobs.clock.now)
    }

    /// Reads the rest of one file; `false` when the lease was lost.
    private func read(_ blob: BlobReference, _ progress: inout JobProgress, _ files: JobFiles) async throws -> Bool {
        guard let file = try await jobs.containers.open(blob) else {
            throw JobFault(reason: "the file \(blob.name) is not there any more")
        }
        guard progress.offset <= file.size else { throw JobFault(reason: "the file \(blob.name) became shorter") }
        var splitter = LineSplitter(limit: jobs.settings.lineBytes, after: progress.line, offset: Int(progress.offset))
        var position = progress.offset
        var batch = ImportBatch()
        while position < file.size {
            let piece = try await file.read(at: position, count: Int(min(Int64(Self.pieceBytes), file.size - position)))
            position += Int64(piece.count)
            splitter.append(piece)
            while let line = splitter.next() {
                add(line, to: &batch)
                guard batch.isFull(jobs.settings) else { continue }
                guard try await apply(&batch, &progress, files) else { return false }
            }
        }
        if let line = splitter.finish() { add(line, to: &batch) }
        if batch.isEmpty { return true }
        return try await apply(&batch, &progress, files)
    }

    private func add(_ line: LineSplitter.Line, to batch: inout ImportBatch) {
        guard let bytes = line.bytes else {
            batch.refuse(line, "the line has more than \(jobs.settings.lineBytes) bytes")
            return
        }
        do {
            guard let change = try jobs.format.change(in: bytes, for: lease.job.kind) else { return }
            batch.add(line, try checked(change))
        } catch {
            batch.refuse(line, (error as? ServiceError)?.reason ?? "the line cannot be read")
        }
    }

    private func checked(_ change: RegistrationChange) throws -> RegistrationChange {
        switch change {
        case .put(let request): .put(try hub.accepted(request, at: jobs.clock.now))
        case .merge(let part): .merge(try hub.accepted(part))
        case .remove: change
        }
    }

    private func apply(_ batch: inout ImportBatch, _ progress: inout JobProgress, _ files: JobFiles) async throws -> Bool {
        try Task.checkCancellation()
        let (done, before, format) = (batch, progress, jobs.format)
        let committed = try await jobs.store.apply(
            done.changes, for: lease, until: jobs.deadline, at: jobs.clock.now,
            report: { results in done.report(results, after: before, format) })
        guard let committed else { return false }
        progress = committed
        try await files.write(&progress)
        batch = ImportBatch()
        return true
    }
}

extension ServiceError {
    /// The sentence, without the code's word.
    var reason: String { detail ?? code.rawValue }
}

/// The lines of an import that are committed together.
private struct ImportBatch: Sendable {
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

/// Cuts a file that arrives in pieces into lines, without ever holding more than one line and one piece.
public struct LineSplitter: Sendable {
    /// A line of the file.
    public struct Line: Hashable, Sendable {
        /// Counted from 1, empty lines included.
        public var number: Int
        /// Without its line end; `nil` when the line is longer than allowed.
        public var bytes: [UInt8]?
        /// Where the next line begins, in bytes from the start of the file: from there reading can go on.
        public var end: Int

        public init(number: Int, bytes: [UInt8]?, end: Int) {
            self.number = number
            self.bytes = bytes
            self.end = end
        }
    }

    /// The longest line, in bytes.
    public let limit: Int
    private var buffer: [UInt8] = []
    /// Where the next line begins in `buffer`, and up to where no line end was found.
    private var start = 0
    private var searched = 0
    private var discards = false
    private var number: Int
    private var offset: Int

    /// Creates a splitter.
    ///
    /// - Parameters:
    ///   - limit: the longest line, in bytes; longer ones are skipped and reported.
    ///   - number: how many lines came before, when reading goes on.
    ///   - offset: where in the file reading goes on, the `end` of the last line.
    public init(limit: Int, after number: Int = 0, offset: Int = 0) {
        self.limit = limit
        self.number = number
        self.offset = offset
    }

    /// Adds the next piece of the file.
    public mutating func append(_ piece: some Sequence<UInt8>) {
        buffer.removeFirst(start)
        searched -= start
        start = 0
        buffer.append(contentsOf: piece)
    }

    /// The next whole line, or `nil` when more of the file is needed. Empty lines are skipped.
    public mutating func next() -> Line? {
        while let end = buffer[searched...].firstIndex(of: 0x0A) {
            let bytes = buffer[start..<end]
            offset += bytes.count + 1
            start = end + 1
            searched = start
            if let line = line(bytes) { return line }
        }
        searched = buffer.count
        if buffer.count - start > limit {
            // The rest of this line is not kept either.
            discards = true
            offset += buffer.count - start
            start = buffer.count
        }
        return nil
    }

    /// The last line, when the file does not end with a line end. Call it once, after `next` has nothing more.
    public mutating func finish() -> Line? {
        let bytes = buffer[start...]
        guard !bytes.isEmpty || discards else { return nil }
        offset += bytes.count
        start = buffer.count
        searched = start
        return line(bytes)
    }

    private mutating func line(_ bytes: ArraySlice<UInt8>) -> Line? {
        number += 1
        let isFirst = number == 1
        let wasDiscarding = discards
        discards = false
        if wasDiscarding || bytes.count > limit { return Line(number: number, bytes: nil, end: offset) }
        var bytes = bytes
        if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        while let last = bytes.last, Self.isSpace(last) { bytes = bytes.dropLast() }
        while let first = bytes.first, Self.isSpace(first) { bytes = bytes.dropFirst() }
        return bytes.isEmpty ? nil : Line(number: number, bytes: Array(bytes), end: offset)
    }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
