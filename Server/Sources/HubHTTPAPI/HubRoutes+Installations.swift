import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import RichPushModel
import ServiceErrors

/// Installations (Reference/AzureNotificationHubs.md#2-6 and #5).
extension HubRoutes {
    func answerInstallation(_ call: HubCall) async throws -> Response {
        let hub = try call.hub()
        let id = try call.recordID()
        switch call.route.operation {
        case .putInstallation:
            try await put(call, hub)
            return HubAnswer.empty(.putInstallation, headers: [.contentLocation: call.location.member(id.text)])
        case .patchInstallation:
            try await patch(call, hub, id)
            return HubAnswer.empty(.patchInstallation, headers: [.contentLocation: call.location.member(id.text)])
        case .deleteInstallation:
            try writes.admit(hub.id)
            // 204 for an unknown one too: every client takes 404 for a failure (Reference/AzureNotificationHubs.md#0-18).
            _ = try await hub.removeInstallation(id, allowing: call.replacementCheck)
            return HubAnswer.empty(.deleteInstallation)
        default:
            guard let installation = try await hub.installation(id) else { throw Self.unknownInstallation }
            return HubAnswer.body(InstallationDocument(installation).json, as: HubAnswer.json, .installation)
        }
    }

    private static let unknownInstallation = ServiceError(.notFound, "Installation not found")

    private func put(_ call: HubCall, _ hub: NotificationHub) async throws {
        try writes.admit(hub.id)
        let body = try await call.body(limit: call.limits.installationBytes)
        let request = try InstallationDocument(parsing: body, pathID: call.route.id, limits: call.limits).upsert()
        try call.checkTags(request.allTags)
        try await hub.put(request, allowing: call.replacementCheck)
    }

    private func patch(_ call: HubCall, _ hub: NotificationHub, _ id: RecordID) async throws {
        try writes.admit(hub.id)
        let body = try await call.body(limit: call.limits.installationBytes)
        let patch = try InstallationPatch(parsing: body, limits: call.limits)
        do {
            _ = try await hub.update(installation: id) { content in
                // Also for a changed handle of an installation with a user's tag: the new device would get that user's pushes.
                try call.checkTags(content.allTags)
                let before = DeviceInstallation(content: content, createdAt: call.now, registeredAt: call.now)
                let after = try patch.applied(to: InstallationDocument(before), limits: call.limits)
                var changed = try after.upsert()
                // What only this product's own clients say stays.
                changed.environment = content.environment
                changed.topic = content.topic
                changed.confirmsHandle = patch.setsChannel
                try call.checkTags(changed.allTags)
                content = changed
            }
        } catch let error as ServiceError where error.code == .notFound {
            throw Self.unknownInstallation
        }
    }
}

extension InstallationDocument {
    /// Keys of `InstallationUpsert.details`.
    private enum Detail {
        static let p256dh = "P256DH"
        static let auth = "Auth"
        /// Present when the browser's channel was written as an object: it goes back as it came.
        static let isObject = "PushChannelIsObject"
    }

    /// What the installation asks the hub to keep. Throws `invalid-field` that names the member.
    func upsert() throws -> InstallationUpsert {
        guard let id = RecordID(installationID) else {
            throw ServiceError(.invalidField, "installationId has 1 to 256 characters of printable ASCII without blanks")
        }
        return InstallationUpsert(
            id: id, platform: platform, handle: try handle(pushChannel.handle, of: "pushChannel"), userID: userID,
            expiresAt: expirationTime, tags: try WireTags.read(tags), pushVariables: pushVariables, details: details,
            templates: try Self.templates(templates), tiles: try tiles())
    }

    private func handle(_ text: String, of member: String) throws -> DeviceToken {
        guard let handle = DeviceToken(text, platform: platform) else {
            throw ServiceError(.invalidField, "\(member) is not a handle of platform \(platform.rawValue)")
        }
        if platform == .baidu, BaiduChannel(text) == nil {
            throw ServiceError(.invalidField, "\(member): a Baidu channel is the user id, a hyphen and the channel id")
        }
        return handle
    }

    private var details: [String: String] {
        guard case .browser(let channel) = pushChannel else { return [:] }
        var details = [Detail.p256dh: channel.p256dh, Detail.auth: channel.auth]
        if channel.isObject { details[Detail.isObject] = "true" }
        return details
    }

    private static func templates(_ templates: [InstallationTemplate]) throws -> [String: InstallationUpsert.Template] {
        try templates.reduce(into: [:]) { result, template in
            result[template.name] = InstallationUpsert.Template(
                DeviceTemplate(
                    name: template.name, body: template.body,
                    headers: template.headers.map { .init(name: $0.name, value: $0.value) }, expiry: template.expiry),
                tags: try WireTags.read(template.tags))
        }
    }

    private func tiles() throws -> [String: InstallationUpsert.Tile] {
        try secondaryTiles.reduce(into: [:]) { result, tile in
            result[tile.name] = InstallationUpsert.Tile(
                handle: try handle(tile.pushChannel, of: "secondaryTiles"), tags: try WireTags.read(tile.tags),
                templates: try Self.templates(tile.templates))
        }
    }

    /// The document of a stored installation. Templates and tiles come in the order of their names.
    init(_ installation: DeviceInstallation) {
        let content = installation.content
        self.init(installationID: content.id.text, platform: content.platform, pushChannel: Self.channel(content))
        userID = content.userID
        pushChannelExpired = installation.isHandleExpired
        expirationTime = content.expiresAt
        tags = content.tags.map(\.text)
        pushVariables = content.pushVariables
        templates = Self.documents(content.templates)
        secondaryTiles = content.tiles.sorted { $0.key < $1.key }.map { name, tile in
            SecondaryTile(
                name: name, pushChannel: tile.handle.text, tags: tile.tags.map(\.text),
                templates: Self.documents(tile.templates))
        }
    }

    private static func channel(_ content: InstallationUpsert) -> PushChannel {
        let handle = content.handle?.text ?? ""
        guard let p256dh = content.details[Detail.p256dh], let auth = content.details[Detail.auth] else { return .handle(handle) }
        return .browser(
            BrowserChannel(
                endpoint: BrowserChannel.endpoint(in: handle), p256dh: p256dh, auth: auth,
                isObject: content.details[Detail.isObject] != nil))
    }

    private static func documents(_ templates: [String: InstallationUpsert.Template]) -> [InstallationTemplate] {
        templates.sorted { $0.key < $1.key }.map { name, template in
            InstallationTemplate(
                name: name, body: template.template.body,
                headers: template.template.headers.map { HeaderField($0.name, $0.value) }, expiry: template.template.expiry,
                tags: template.tags.map(\.text))
        }
    }
}

extension InstallationUpsert {
    /// Every tag of the installation, its templates and its tiles. The name of a template is a tag of it, too
    /// (Reference/AzureNotificationHubs.md#3).
    var allTags: [Tag] {
        tags + Self.tags(of: templates) + tiles.values.flatMap { $0.tags + Self.tags(of: $0.templates) }
    }

    private static func tags(of templates: [String: Template]) -> [Tag] {
        templates.flatMap { name, template in template.tags + [Tag(name)].compactMap(\.self) }
    }
}
