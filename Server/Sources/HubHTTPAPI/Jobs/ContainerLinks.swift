import HTTPService
import HubProtocol
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

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
