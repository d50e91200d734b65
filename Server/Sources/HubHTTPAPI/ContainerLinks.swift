import HTTPService
import HubProtocol
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import WireText

/// The signed links to the containers of one hub: makes them, and reads those in requests.
struct ContainerLinks {
    let files: HubFiles
    let hub: ServedHub
    /// The authority of the request.
    let authority: String
    /// How links begin, such that who sent the request can reach them.
    let origin: String
    /// The names under which this server is known.
    let hosts: [String]
    let now: Timestamp

    /// A link to a container or, with a name, to a file in it.
    func link(
        to container: ContainerName, _ blob: BlobName? = nil, allowing permissions: [ContainerPermission]
    ) -> String {
        HubFiles.link(
            to: container, blob, of: hub.record, at: origin,
            allowing: permissions, until: now + files.linkLifetime, by: files.signer)
    }

    /// A link to the errors of a send.
    func link(toErrorsOf id: NotificationID) -> String {
        HubFiles.link(
            toErrorsOf: id, of: hub.record, at: origin, until: now + files.errorLinkLifetime, by: files.signer)
    }

    /// Reads the link in an element of a job. Throws `invalid-field` that names the element.
    func read(_ url: String, _ element: String, _ needed: ContainerPermission) throws(ServiceError) -> ContainerPath {
        guard let separator = url.firstRange(of: "://"), ["http", "https"].contains(url[..<separator.lowerBound].lowercased())
        else { throw ServiceError(.invalidField, "\(element) is not an absolute URL") }
        let rest = url[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let target = rest[authority.endIndex...].prefix { $0 != "#" }
        let path = target.prefix { $0 != "?" }
        guard isOurs(authority), let found = try? ContainerPath(path), found.container != nil else {
            throw ServiceError(
                .invalidField,
                "\(element) is not a container of this server; POST to /\(ContainerPath.root)/{hub} makes one")
        }
        guard found.hub.lowercased() == hub.record.name.folded else {
            throw ServiceError(.invalidField, "\(element) is a container of another hub")
        }
        let query = HubQuery(String(target[path.endIndex...].dropFirst()))
        do throws(ContainerSigner.Fault) {
            try check(query, found, needed)
        } catch {
            throw ServiceError(.invalidField, "\(element): \(error)")
        }
        return found
    }

    /// Checks the signature in a query.
    func check(
        _ query: HubQuery, _ path: ContainerPath, _ needed: ContainerPermission
    ) throws(ContainerSigner.Fault) {
        guard let container = path.container else { throw .malformed }
        try check(query, HubFiles.place(container, of: hub.hub.id), needed)
    }

    /// Checks the signature in a query for the errors of a send.
    func check(
        _ query: HubQuery, errorsOf id: NotificationID
    ) throws(ContainerSigner.Fault) {
        try check(query, HubFiles.place(ofErrorsOf: id, hub.hub.id), .read)
    }

    private func check(
        _ query: HubQuery, _ place: [String], _ needed: ContainerPermission
    ) throws(ContainerSigner.Fault) {
        try files.signer.check(
            signature: query["sig"], expiry: query["se"], permissions: query["sp"], for: place, needed, at: now)
    }

    /// Ports differ behind proxies, so only names are compared.
    private func isOurs(_ authority: Substring) -> Bool {
        let host = Self.host(authority).lowercased()
        return ([self.authority] + hosts).contains { Self.host($0[...]).lowercased() == host }
    }

    private static func host(_ authority: Substring) -> Substring {
        if authority.hasPrefix("[") { return authority.prefix { $0 != "]" } }
        return authority.prefix { $0 != ":" }
    }
}

/// A path below `/$containers`: the containers of a hub, one of them, or a file in it.
///
/// The hub stands in the first segment, `/$containers.{hub}/{container}/{blob}`, or in the second, `/$containers/{hub}/…`. Links have
/// the first form: libraries for Azure's storage take a link apart as account, container and blob, and put it together again.
struct ContainerPath: Hashable, Sendable {
    static let root = "$containers"

    /// The hub's name, decoded.
    var hub: String
    var container: ContainerName?
    var blob: BlobName?

    /// Reads the path of a request or link. Throws `unknown-route` when it lies elsewhere, and `invalid-field` with the rule for
    /// a name that cannot be.
    init(_ path: some StringProtocol) throws(ServiceError) {
        guard path.utf8.count <= 1024 else { throw ServiceError(.unknownRoute) }
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map { String($0) }
        guard parts.count >= 2, parts[0].isEmpty, let named = Self.hub(in: parts[1]) else { throw ServiceError(.unknownRoute) }
        var rest = parts.count < 3 ? [] : Self.segments(parts[2], atMost: named.isEmpty ? 3 : 2)
        if named.isEmpty {
            guard !rest.isEmpty, let hub = PercentEncoding.decode(rest.removeFirst()), !hub.isEmpty else {
                throw ServiceError(.unknownRoute)
            }
            self.hub = hub
        } else {
            hub = named
        }
        // A final slash names the same.
        if rest.last == "" { rest.removeLast() }
        guard let first = rest.first else { return }
        guard let container = ContainerName(first) else {
            throw ServiceError(.invalidField, "the name of a container has 3 to 63 lower-case letters, digits and hyphens")
        }
        self.container = container
        guard rest.count > 1 else { return }
        guard let blob = PercentEncoding.decode(rest[1]).flatMap(BlobName.init) else {
            throw ServiceError(
                .invalidField,
                "the name of a file has 1 to 200 letters and digits of ASCII and . _ - ~ + = @ ( ) , in parts with / between them"
            )
        }
        self.blob = blob
    }

    private static func segments(_ text: String, atMost count: Int) -> [String] {
        text.split(separator: "/", maxSplits: count - 1, omittingEmptySubsequences: false).map { String($0) }
    }

    /// Whether a path lies below `/$containers` or `/$containers.{hub}`.
    static func matches(_ path: String) -> Bool {
        // One byte rules out nearly every other path.
        guard let first = path.utf8.dropFirst().first, first == UInt8(ascii: "$") || first == UInt8(ascii: "%") else {
            return false
        }
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.dropFirst().first.map { hub(in: String($0)) != nil } ?? false
    }

    /// The label of the metrics.
    var template: String {
        blob != nil
            ? "/$containers/{hub}/{container}/{blob}"
            : container != nil ? "/$containers/{hub}/{container}" : "/$containers/{hub}"
    }

    /// The hub that the first segment names; empty when the next one does, `nil` when the path lies elsewhere.
    private static func hub(in segment: String) -> String? {
        guard let text = PercentEncoding.decode(segment), text.lowercased().hasPrefix(root) else { return nil }
        let rest = text.dropFirst(root.count)
        if rest.isEmpty { return "" }
        return rest.first == "." && rest.count > 1 ? String(rest.dropFirst()) : nil
    }
}

/// What the hub's HTTP interface needs to run jobs and to serve their files.
public struct HubFiles: Sendable {
    let jobs: HubJobs
    let signer: ContainerSigner
    /// How long a link is valid.
    let linkLifetime: Duration = .seconds(7 * 86_400)
    /// How long a link to the errors of a send is valid; that of Azure lives as long.
    let errorLinkLifetime: Duration = .seconds(5 * 86_400)
    /// The largest file that a client may put, in bytes.
    let fileLimit: Int64
    /// How long a client may take to put a file.
    let uploadDeadline: Duration = .seconds(600)

    public init(jobs: HubJobs, signer: ContainerSigner, fileLimit: Int64 = 100 << 20) {
        self.jobs = jobs
        self.signer = signer
        self.fileLimit = fileLimit
    }

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
