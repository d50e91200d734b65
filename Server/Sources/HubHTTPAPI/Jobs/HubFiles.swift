import HTTPService
import PushHub
import RichPushModel
import SharedAccess
import WireText

/// What the hub's HTTP interface needs to run jobs and to serve their files.
public struct HubFiles: Sendable {
    public var jobs: HubJobs
    public var signer: ContainerSigner
    /// How long a link is valid.
    public var linkLifetime: Duration
    /// How long a link to the errors of a send is valid; that of Azure lives as long.
    public var errorLinkLifetime: Duration
    /// The largest file that a client may put, in bytes.
    public var fileLimit: Int64
    /// How long a client may take to put a file.
    public var uploadDeadline: Duration

    /// Creates the parts.
    public init(
        jobs: HubJobs, signer: ContainerSigner, linkLifetime: Duration = .seconds(7 * 86_400),
        errorLinkLifetime: Duration = .seconds(5 * 86_400), fileLimit: Int64 = 100 << 20, uploadDeadline: Duration = .seconds(600)
    ) {
        self.jobs = jobs
        self.signer = signer
        self.linkLifetime = linkLifetime
        self.errorLinkLifetime = errorLinkLifetime
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
        return address(of: container, blob, hub, at: base, query)
    }

    /// A signed link to the errors of one send, and to nothing else.
    static func link(
        toErrorsOf id: NotificationID, of hub: HubRecord, at base: String, until moment: Timestamp, by signer: ContainerSigner
    ) -> String {
        let query = signer.query(for: place(ofErrorsOf: id, hub.id), [.read], until: moment)
        return address(of: .sendErrors, BlobName("\(id.text)\(errorSuffix)"), hub, at: base, query)
    }

    /// How the name of a file with the errors of a send ends, after the id of the send.
    static let errorSuffix = ".xml"

    private static func address(
        of container: ContainerName, _ blob: BlobName?, _ hub: HubRecord, at base: String, _ query: String
    ) -> String {
        let name = PercentEncoding.encode(hub.name.text)
        let path = "/\(ContainerPath.root).\(name)/\(container.text)" + (blob.map { "/\($0.text)" } ?? "")
        return "\(base)\(path)?\(query)"
    }

    /// What a link is signed for. The hub by its number: one of the same name that comes later is another.
    static func place(_ container: ContainerName, of hub: HubID) -> [String] { [String(hub.number), container.text] }

    /// What a link to the errors of a send is signed for.
    static func place(ofErrorsOf id: NotificationID, _ hub: HubID) -> [String] {
        place(.sendErrors, of: hub) + [id.text]
    }
}
