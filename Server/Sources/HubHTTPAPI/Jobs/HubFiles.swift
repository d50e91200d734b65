import PushHub
import SharedAccess

/// What the hub's HTTP interface needs to run jobs and to serve their files.
public struct HubFiles: Sendable {
    public var jobs: HubJobs
    public var signer: ContainerSigner
    /// The scheme of links: `https`, or `http` on a node that is reached without TLS.
    public var scheme: String
    /// How long a link is valid.
    public var linkLifetime: Duration
    /// The largest file that a client may put, in bytes.
    public var fileLimit: Int64
    /// How long a client may take to put a file.
    public var uploadDeadline: Duration

    /// Creates the parts.
    public init(
        jobs: HubJobs, signer: ContainerSigner, scheme: String = "https", linkLifetime: Duration = .seconds(7 * 86_400),
        fileLimit: Int64 = 100 << 20, uploadDeadline: Duration = .seconds(600)
    ) {
        self.jobs = jobs
        self.signer = signer
        self.scheme = scheme
        self.linkLifetime = linkLifetime
        self.fileLimit = fileLimit
        self.uploadDeadline = uploadDeadline
    }
}
