import RichPushModel
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Seals and opens the secrets of hubs. Each is bound to its hub and place, so that nobody who can write the database can give one
/// hub the keys of another.
struct HubSecrets: Sendable {
    private let box: SecretBox

    init(_ box: SecretBox) { self.box = box }

    /// The rule with sealed keys. No hub means all hubs.
    func seal(_ rule: AccessRule, of hub: HubName?, createdAt: Timestamp, at now: Timestamp) throws -> SealedAccessRule {
        SealedAccessRule(
            name: rule.name, rights: rule.rights,
            primary: try sealing { () throws(SealingFault) in
                try box.seal(rule.primary.text, for: place(hub, rule.name, "primary"))
            },
            secondary: try sealing { () throws(SealingFault) in
                try box.seal(rule.secondary.text, for: place(hub, rule.name, "secondary"))
            },
            createdAt: createdAt, updatedAt: now)
    }

    /// The rule with its keys. Throws `notReady` for keys of another master key.
    func open(_ rule: SealedAccessRule, of hub: HubName?) throws -> AccessRule {
        AccessRule(
            name: rule.name, rights: rule.rights, primary: try key(rule.primary, place(hub, rule.name, "primary")),
            secondary: try key(rule.secondary, place(hub, rule.name, "secondary")))
    }

    func seal(_ credential: HubAPNsCredential, of hub: HubName) throws -> String {
        let data = try JSONEncoder().encode(credential)
        return try sealing { () throws(SealingFault) in try box.seal(Array(data), for: place(hub, "apns", "credential")) }
    }

    func openAPNs(_ sealed: String, of hub: HubName) throws -> HubAPNsCredential {
        let bytes = try sealing { () throws(SealingFault) in try box.open(sealed, for: place(hub, "apns", "credential")) }
        do { return try JSONDecoder().decode(HubAPNsCredential.self, from: Data(bytes)) } catch {
            throw ServiceError(.internal, "the stored credential of hub \(hub) cannot be read")
        }
    }

    private func key(_ sealed: String, _ place: String) throws -> SharedAccessKey {
        let text = try sealing { () throws(SealingFault) in try box.openText(sealed, for: place) }
        guard let key = SharedAccessKey(text) else { throw ServiceError(.internal, "a stored access key cannot be read") }
        return key
    }

    /// Names of hubs and rules hold no blank, so no two places meet.
    private func place(_ hub: HubName?, _ name: String, _ part: String) -> String {
        "\(hub.map { "hub \($0.folded)" } ?? "all-hubs") \(name) \(part)"
    }

    private func sealing<Value>(_ work: () throws(SealingFault) -> Value) throws(ServiceError) -> Value {
        do throws(SealingFault) {
            return try work()
        } catch {
            throw ServiceError(
                .notReady, "a secret of a hub cannot be opened: \(error); is master-key the one it was stored with?")
        }
    }
}
