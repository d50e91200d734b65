import HubProtocol
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HubDescription {
    /// What a new hub is to be. Throws `invalid-field`.
    func definition() throws -> HubDefinition {
        HubDefinition(
            details: details(keeping: HubDetails()), rules: try rules.isEmpty ? nil : accessRules(keeping: []),
            apns: try apns().credential)
    }

    /// What of a hub is to change; what the description leaves out stays. Throws `invalid-field`.
    func change(of record: HubRecord, rules present: [AccessRule]) throws -> HubChange {
        let apns = try apns()
        return HubChange(
            details: details(keeping: record.details), rules: rules.isEmpty ? nil : try accessRules(keeping: present),
            apns: apns.isGiven ? apns.credential.map(HubChange.Credential.set) ?? .remove : .keep)
    }

    private func details(keeping present: HubDetails) -> HubDetails {
        var details = present
        if let userMetadata { details.userMetadata = userMetadata }
        switch registrationLifetime {
        case .never: details.registrationLifetime = nil
        case .after(let lifetime): details.registrationLifetime = lifetime
        case nil: break
        }
        return details
    }

    /// A rule without a key keeps the key it has, or gets a new one.
    private func accessRules(keeping present: [AccessRule]) throws -> [AccessRule] {
        try rules.map { rule in
            let old = present.first { $0.name == rule.name }
            return AccessRule(
                name: rule.name, rights: Set(rule.rights.compactMap { AccessRight(rawValue: $0.rawValue) }),
                primary: try Self.key(rule.primaryKey) ?? old?.primary ?? .random(),
                secondary: try Self.key(rule.secondaryKey) ?? old?.secondary ?? .random())
        }
    }

    private static func key(_ text: String?) throws -> SharedAccessKey? {
        guard let text else { return nil }
        guard let key = SharedAccessKey(text) else {
            throw ServiceError(.invalidField, "an access key has 1 to 256 characters of ASCII without blanks and semicolons")
        }
        return key
    }

    private func apns() throws -> (isGiven: Bool, credential: HubAPNsCredential?) {
        guard let given = credentials.first(where: { $0.service == .apns }) else { return (false, nil) }
        return (true, given.properties.isEmpty ? nil : try given.apnsCredential())
    }
}

extension HubCredential {
    /// The credential of the names of Reference/AzureNotificationHubs.md#2-13. Throws `invalid-field` that names the property.
    fileprivate func apnsCredential() throws -> HubAPNsCredential {
        HubAPNsCredential(identity: try identity(), topic: value("AppName"), environment: try environment())
    }

    /// Which of Apple's two worlds the endpoint names, in any of the forms that clients know; the hub sends nowhere else.
    private func environment() throws -> HubAPNsCredential.Environment {
        guard let endpoint = value("Endpoint"), !endpoint.isEmpty else { return .production }
        var host = endpoint.lowercased()[...]
        if host.hasPrefix("https://") { host = host.dropFirst(8) }
        switch host.prefix(while: { $0 != "/" && $0 != ":" }) {
        case "api.push.apple.com", "gateway.push.apple.com": return .production
        case "api.development.push.apple.com", "api.sandbox.push.apple.com", "gateway.sandbox.push.apple.com": return .sandbox
        default:
            throw ServiceError(
                .invalidField,
                "the Endpoint of ApnsCredential is none of Apple's: api.push.apple.com or api.development.push.apple.com with a "
                    + "Token, gateway.push.apple.com or gateway.sandbox.push.apple.com with a certificate")
        }
    }

    private func identity() throws -> HubAPNsCredential.Identity {
        if let token = value("Token") {
            guard let keyID = value("KeyId"), let teamID = value("AppId") else {
                throw ServiceError(.invalidField, "ApnsCredential with a Token needs KeyId and AppId, the id of the team")
            }
            return .token(key: Self.pem(token), keyID: keyID, teamID: teamID)
        }
        guard let certificate = value("ApnsCertificate"), let data = Data(base64Encoded: certificate) else {
            throw ServiceError(.invalidField, "ApnsCredential needs a Token, or an ApnsCertificate in Base64")
        }
        return .certificate(data: Array(data), password: value("CertificateKey"))
    }

    /// The portal that people know takes the key without its first and last line, and in one line; PEM has lines of 64 characters.
    private static func pem(_ token: String) -> String {
        guard !token.contains("-----BEGIN") else { return token }
        var rest = token.filter { !$0.isWhitespace }[...]
        var lines = ["-----BEGIN PRIVATE KEY-----"]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END PRIVATE KEY-----", ""]).joined(separator: "\n")
    }
}

extension HubEntry {
    /// A hub as management sees it. The credential for APNs is never shown; keys only to who holds one for all hubs.
    init(_ record: HubRecord, rules: [AccessRule], showsKeys: Bool) {
        var description = HubDescription()
        description.registrationLifetime = record.details.registrationLifetime.map { .after($0) } ?? .never
        description.userMetadata = record.details.userMetadata
        description.rules = rules.map { rule in
            HubAccessRule(
                name: rule.name,
                rights: AccessRight.allCases.filter(rule.rights.contains).compactMap { .init(rawValue: $0.rawValue) },
                primaryKey: showsKeys ? rule.primary.text : nil, secondaryKey: showsKeys ? rule.secondary.text : nil,
                createdAt: record.createdAt, modifiedAt: record.updatedAt)
        }
        self.init(name: record.name.text, description: description, published: record.createdAt, updated: record.updatedAt)
    }
}
