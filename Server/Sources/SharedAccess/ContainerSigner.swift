import Crypto
import RichPushModel
import WireText

/// What a signed link to a container allows, by the letter that stands in the link.
public enum ContainerPermission: Character, Sendable, CaseIterable {
    case read = "r"
    /// Also removes files.
    case write = "w"
    case list = "l"
}

/// Signs links to the containers of hubs on this node, with a key derived from the node's master key. A link needs no
/// other key until it expires.
public struct ContainerSigner: Sendable {
    /// Why a link is not accepted.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case malformed
        case notAuthentic
        case expired
        case lacks(ContainerPermission)

        public var description: String {
            switch self {
            case .malformed: "the link has no valid sig, se and sp"
            case .notAuthentic: "the link's signature is not one of this server"
            case .expired: "the link has expired"
            case .lacks(let permission): "the link lacks the permission \(permission.rawValue)"
            }
        }
    }

    private let key: SymmetricKey

    public init(_ master: MasterKey) { key = master.derivedKey(for: "container links") }

    /// The query of a link: `sig=…&se=…&sp=…`, `se` in seconds since 1970.
    ///
    /// - Parameter place: what identifies the container on this node, for example the hub's number and the name.
    public func query(for place: [String], _ permissions: [ContainerPermission], until moment: Timestamp) -> String {
        let letters = String(ContainerPermission.allCases.filter(permissions.contains).map(\.rawValue))
        let seconds = String(moment.seconds)
        let signature = Base64URL.text(of: Array(code(place, letters, seconds)))
        return "sig=\(signature)&se=\(seconds)&sp=\(letters)"
    }

    /// Checks the three parts of a link's query for one use.
    public func check(
        signature: String?, expiry: String?, permissions: String?, for place: [String], _ needed: ContainerPermission,
        at now: Timestamp
    ) throws(Fault) {
        guard let signature, let expiry, let permissions, let bytes = Base64URL.bytes(of: signature), let seconds = Int64(expiry)
        else { throw .malformed }
        guard ConstantTime.equal(bytes, Array(code(place, permissions, expiry))) else { throw .notAuthentic }
        guard Timestamp(seconds: seconds) > now else { throw .expired }
        guard permissions.contains(needed.rawValue) else { throw .lacks(needed) }
    }

    /// The lengths are part of what is signed, so that no two places meet.
    private func code(_ place: [String], _ permissions: String, _ expiry: String) -> HMAC<SHA256>.MAC {
        var code = HMAC<SHA256>(key: key)
        for part in place + [permissions, expiry] { code.update(data: Array("\(part.utf8.count):\(part)\n".utf8)) }
        return code.finalize()
    }
}

extension ContainerSigner: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "signer of container links (key not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
