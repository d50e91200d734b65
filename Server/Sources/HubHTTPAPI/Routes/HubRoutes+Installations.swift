import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
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
                // Also the handle of an installation that carries a person's tag: who moves it receives for that person.
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
