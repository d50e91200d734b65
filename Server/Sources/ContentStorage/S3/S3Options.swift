/// How an S3-compatible store is used.
public struct S3Options: Sendable {
    public var location: S3Location
    public var credentials: S3Credentials
    /// A PEM file with certificates that vouch for the store besides the system's.
    public var trustRootsPath: String?
    /// Whether `link` gives addresses at which anybody gets a content for a while.
    public var handsOutLinks = false
    /// The bytes of one part of a large upload, and the most that an upload holds in memory. Stores want at least 5 MiB.
    public var partBytes = 5 << 20
    /// The bytes of one copy inside the store; each has to end within `requestDeadline`.
    public var copyBytes: Int64 = 256 << 20
    /// Uploads under way at most; each holds up to `partBytes`.
    public var maximumUploads = 16
    /// Downloads at most that keep a connection of their own; those above ask for each piece anew.
    public var maximumStreams = 256
    /// Connections at most.
    public var connections = 384
    /// Requests at most that are under way or wait for a connection, streams not counted.
    public var maximumRequests = 1024
    /// How long a connection may take to come about.
    public var connectDeadline: Duration = .seconds(5)
    /// How long a connection may be silent in the middle of a body.
    public var silenceDeadline: Duration = .seconds(20)
    /// How long one attempt may take to the beginning of its answer.
    public var attemptDeadline: Duration = .seconds(20)
    /// How long one request may take with its repetitions.
    public var requestDeadline: Duration = .seconds(60)
    /// How long one attempt to read a content for a phone may take to the beginning of its answer.
    public var readAttemptDeadline: Duration = .seconds(8)
    /// How long it may take to the beginning of its answer, with its repetitions. Less than a caller of the server may be kept waiting,
    /// so that it hears what is wrong. What nobody waits for has the longer ones: lists, removals, the files of jobs.
    public var readDeadline: Duration = .seconds(20)

    /// Creates options; what is not named has defaults.
    public init(location: S3Location, credentials: S3Credentials) {
        self.location = location
        self.credentials = credentials
    }

    /// How long an attempt may take, and all of them together. A read that a phone waits for has the shorter ones of both kinds.
    func deadlines(isAwaited: Bool) -> (attempt: Duration, all: Duration) {
        guard isAwaited else { return (attemptDeadline, requestDeadline) }
        return (min(readAttemptDeadline, attemptDeadline), min(readDeadline, requestDeadline))
    }
}
