/// How far a job has come: all that is needed to go on after a crash from the last committed line.
public struct JobProgress: Hashable, Sendable {
    /// What `done` counts up to: bytes of the input files, or records to export.
    public var total: Int64 = 0
    public var done: Int64 = 0
    /// The input file that is being read, from 0, and the lines and bytes of it that are done.
    public var file = 0
    public var line = 0
    public var offset: Int64 = 0
    /// The last record that was exported.
    public var cursor: SliceKey = .beforeAll
    /// Lines and records that went well, and lines that did not.
    public var succeeded: Int64 = 0
    public var failed: Int64 = 0
    /// The sizes of the two files of the job, without what is pending.
    public var outputSize: Int64 = 0
    public var failedSize: Int64 = 0
    /// What belongs at the end of the two files, committed with the changes it tells of. Whether it is there already, only the
    /// files know: it is written again from these sizes on.
    public var pendingOutput = ""
    public var pendingFailed = ""

    /// The progress of a job that has not begun.
    public init(total: Int64 = 0) { self.total = total }
}
