import HTTPService
import PushHub
import RichPushModel
import SharedAccess

/// What the hub's HTTP interface needs to run jobs and to serve their files.
public struct HubFiles: Sendable {
    public var jobs: HubJobs
    public var signer: ContainerSigner
    /// How long a link is valid.
    public var linkLifetime: Duration
    /// The largest file that a client may put, in bytes.
    public var fileLimit: Int64
    /// How long a client may take to put a file.
    public var uploadDeadline: Duration

    /// Creates the parts.
    public init(
        jobs: HubJobs, signer: ContainerSigner, linkLifetime: Duration = .seconds(7 * 86_400),
        fileLimit: Int64 = 100 << 20, uploadDeadline: Duration = .seconds(600)
    ) {
        self.jobs = jobs
        self.signer = signer
        self.linkLifetime = linkLifetime
        self.fileLimit = fileLimit
        self.uploadDeadline = uploadDeadline
    }
}

extension HubFiles {
    /// A signed link to a container of a hub or, with a name, to a file in it.
    public static func link(
        to container: ContainerName, _ blob: BlobName? = nil, of hub: HubRecord, at base: String,
        allowing permissions: [ContainerPermission], until moment: Timestamp, by signer: ContainerSigner
    ) -> String {
        let query = signer.query(for: place(container, of: hub.id), permissions, until: moment)
        let name = ContentDisposition.escaped(hub.name.text)
        let path = "/\(ContainerPath.root).\(name)/\(container.text)" + (blob.map { "/\($0.text)" } ?? "")
        return "\(base)\(path)?\(query)"
    }

    /// What a link is signed for. The hub by its number: one of the same name that comes later is another.
    static func place(_ container: ContainerName, of hub: HubID) -> [String] { [String(hub.number), container.text] }
}
