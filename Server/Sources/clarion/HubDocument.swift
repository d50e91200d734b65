import PushHub
import ServerOperations

/// A hub as `--json` prints it. Nothing secret is in it.
struct HubDocument: Encodable {
    struct Rule: Encodable {
        var name: String
        var rights: [String]
    }

    var name: String
    var id: Int64
    var version: Int64
    var createdAt: Int64
    var metadata: String?
    var registrationSeconds: Int64?
    var allowsProtectedTags: Bool
    var hasOwnAPNsCredential: Bool
    var apns: String?
    var devices: Int?
    var rules: [Rule]?

    init(_ hub: HubRecord) {
        name = hub.name.text
        id = hub.id.number
        version = hub.version
        createdAt = hub.createdAt.milliseconds
        metadata = hub.details.userMetadata
        registrationSeconds = hub.details.registrationLifetime.map { $0.components.seconds }
        allowsProtectedTags = hub.details.allowsProtectedTags
        hasOwnAPNsCredential = hub.sealedAPNs != nil
    }

    init(_ hub: HubAdministration.Overview) {
        self.init(hub.record)
        apns = hub.apns.map { "\($0)" }
        devices = hub.deviceCount
        rules = hub.rules.map { Rule(name: $0.name, rights: $0.rights.words.split(separator: ",").map(String.init)) }
    }
}
