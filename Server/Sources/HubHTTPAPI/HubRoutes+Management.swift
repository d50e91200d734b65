import AuditTrail
import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Hubs as such, as the namespace managers of two clients use them (Reference/AzureNotificationHubs.md#2-13).
extension HubRoutes {
    /// The most hubs of a list: `$top` and `$skip` are all there is of paging (Reference/AzureNotificationHubs.md#2-13).
    private static let maximumList = 10_000

    func answerManagement(_ call: HubCall) async throws -> Response {
        switch call.route.operation {
        case .hubs: return try await list(call)
        case .putHub: return try await put(call)
        case .deleteHub:
            try await directory.registry.remove(try HubRegistry.name(call.route.hub), audit: Self.audit(.hubRemoved, call))
            directory.catalog.forget()
            return HubAnswer.empty(.deleteHub)
        default:
            guard let served = call.served else {
                // Not a 404: from just this feed one client concludes that there is no such hub.
                return HubAnswer.body(
                    HubDescription.unknownHub(at: call.location, updated: call.now), as: HubAnswer.feed, .hub)
            }
            return Self.entry(served.record, rules: served.rules, call)
        }
    }

    private func put(_ call: HubCall) async throws -> Response {
        let name = try HubRegistry.name(call.route.hub)
        let body = try await call.body(limit: XMLLimits.request.bytes)
        let description = try HubDescription.read(entry: body)
        let registry = directory.registry
        defer { directory.catalog.forget() }
        guard call.ifMatch != nil else {
            let record = try await registry.create(
                name, try description.definition(), audit: Self.audit(.hubCreated, call))
            var response = Self.entry(record, rules: try await registry.rules(of: name), call)
            response.status = .init(code: HubOperation.createdHubStatus)
            return response
        }
        guard let record = try await registry.hub(named: name) else {
            throw ServiceError(.notFound, "There is no hub with this name")
        }
        let change = try description.change(of: record, rules: try await registry.rules(of: name))
        let entry = Self.audit(.hubChanged, call, details: change.words(changing: record.details))
        let changed = try await registry.update(name, with: change, ifVersion: record.version, audit: entry)
        return Self.entry(changed, rules: try await registry.rules(of: name), call)
    }

    /// The audit entry of what the holder of a key of all hubs does.
    private static func audit(_ action: AuditAction, _ call: HubCall, details: String = "") -> AuditEntry {
        AuditEntry(
            action, by: .hubKey(call.grant.rule), from: call.options.network(call.request, call.context), at: call.now,
            object: call.route.hub, details: details)
    }

    private func list(_ call: HubCall) async throws -> Response {
        var limits = call.limits
        limits.pageSize = Self.maximumList
        let query = try ListQuery(call.query, limits: limits)
        var entries: [HubDescription] = []
        var (left, last) = (query.skip, HubName?.none)
        repeat {
            let page = try await directory.registry.hubs(after: last)
            for record in page.dropFirst(left).prefix(query.top - entries.count) {
                entries.append(
                    HubDescription(record, rules: try await directory.registry.rules(of: record.name), showsKeys: true))
            }
            left -= min(left, page.count)
            last = page.count == HubRegistry.maximumPage ? page.last?.name : nil
        } while last != nil && entries.count < query.top
        return HubAnswer.body(HubDescription.feed(entries, at: call.location, updated: call.now), as: HubAnswer.feed, .hubs)
    }

    private static func entry(_ record: HubRecord, rules: [AccessRule], _ call: HubCall) -> Response {
        let entry = HubDescription(record, rules: rules, showsKeys: call.isForAllHubs)
        return HubAnswer.body(entry.answer(at: call.location), as: HubAnswer.entry, call.route.operation)
    }
}

extension HubDescription {
    /// What a new hub is to be. Throws `invalid-field`.
    fileprivate func definition() throws -> HubChange {
        HubChange(
            details: details(keeping: HubDetails()), rules: try rules.isEmpty ? nil : accessRules(keeping: []),
            credentials: try credentialChanges().filter { if case .set = $0 { true } else { false } })
    }

    /// What of a hub is to change; what the description leaves out stays. Throws `invalid-field`.
    fileprivate func change(of record: HubRecord, rules present: [AccessRule]) throws -> HubChange {
        HubChange(
            details: details(keeping: record.details), rules: rules.isEmpty ? nil : try accessRules(keeping: present),
            credentials: try credentialChanges())
    }

    /// An empty credential takes away the one that the hub has. Throws `invalid-field` that names the property.
    private func credentialChanges() throws -> [HubChange.Credential] {
        try CredentialElement.allCases.compactMap { element in
            guard let properties = credentials[element] else { return nil }
            switch element {
            case .apns: return properties.isEmpty ? .remove(.apns) : .set(.apns(try properties.apnsCredential()))
            case .browser: return properties.isEmpty ? .remove(.browser) : .set(.browser(try properties.browserCredential()))
            case .fcm: return properties.isEmpty ? .remove(.fcmv1) : .set(.fcm(try properties.fcmCredential()))
            }
        }
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

    /// A hub as management sees it. Credentials are never shown; keys only to who holds one for all hubs.
    fileprivate init(_ record: HubRecord, rules: [AccessRule], showsKeys: Bool) {
        self.init()
        name = record.name.text
        published = record.createdAt
        updated = record.updatedAt
        registrationLifetime = record.details.registrationLifetime.map { .after($0) } ?? .never
        userMetadata = record.details.userMetadata
        self.rules = rules.map { rule in
            HubAccessRule(
                name: rule.name,
                rights: AccessRight.allCases.filter(rule.rights.contains).compactMap { .init(rawValue: $0.rawValue) },
                primaryKey: showsKeys ? rule.primary.text : nil, secondaryKey: showsKeys ? rule.secondary.text : nil)
        }
    }
}

/// The credentials of the names of Reference/AzureNotificationHubs.md#2-13. Each throws `invalid-field` that names the property.
extension CredentialProperties {
    fileprivate func apnsCredential() throws -> HubAPNsCredential {
        HubAPNsCredential(identity: try identity(), topic: self["AppName"], environment: try environment())
    }

    fileprivate func browserCredential() throws(ServiceError) -> HubBrowserCredential {
        guard let subject = self["Subject"], let publicKey = self["VapidPublicKey"], let privateKey = self["VapidPrivateKey"]
        else {
            throw ServiceError(.invalidField, "BrowserCredential needs Subject, VapidPublicKey and VapidPrivateKey")
        }
        return HubBrowserCredential(subject: subject, publicKey: publicKey, privateKey: privateKey)
    }

    fileprivate func fcmCredential() throws(ServiceError) -> HubFCMCredential {
        guard let project = self["ProjectId"], let email = self["ClientEmail"], let key = self["PrivateKey"] else {
            throw ServiceError(.invalidField, "FcmV1Credential needs ProjectId, ClientEmail and PrivateKey")
        }
        return HubFCMCredential(projectID: project, clientEmail: email, privateKey: key)
    }

    /// Which of Apple's two worlds the endpoint names, in any of the forms that clients know; the hub sends nowhere else.
    private func environment() throws -> HubAPNsCredential.Environment {
        guard let endpoint = self["Endpoint"], !endpoint.isEmpty else { return .production }
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
        if let token = self["Token"] {
            guard let keyID = self["KeyId"], let teamID = self["AppId"] else {
                throw ServiceError(.invalidField, "ApnsCredential with a Token needs KeyId and AppId, the id of the team")
            }
            return .token(key: Self.pem(token), keyID: keyID, teamID: teamID)
        }
        guard let certificate = self["ApnsCertificate"], let data = Data(base64Encoded: certificate) else {
            throw ServiceError(.invalidField, "ApnsCredential needs a Token, or an ApnsCertificate in Base64")
        }
        return .certificate(data: Array(data), password: self["CertificateKey"])
    }

    /// Azure's portal takes the key without its first and last line, and in one line; PEM has lines of 64 characters.
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
