import HubProtocol
import PushHub
import RichPushModel
import ServiceErrors

/// Devices of the app backend at a hub elsewhere: each is an installation there, whichever form it has here.
extension RemoteHub {
    /// Throws `invalid-field` for what an installation cannot carry: templates, which an app backend does not use, and conditions.
    public func upsert(_ request: DeviceUpsert) async throws -> DeviceRecord {
        guard request.template == nil, request.precondition == .none else {
            throw ServiceError(.invalidField, "a device at a hub elsewhere has no template and no condition here")
        }
        let now = clock.now
        let record = DeviceRecord(
            id: request.id, kind: request.kind, platform: request.platform, handle: request.handle,
            environment: request.environment, topic: request.topic, tags: request.tags, userID: request.userID, createdAt: now,
            registeredAt: now, expiresAt: request.expiresAt, pushVariables: request.pushVariables, details: request.details)
        guard let handle = request.handle else {
            // The protocol knows no device without a handle. It would be in no audience; so it is not there at all.
            try await asService { try await deleteInstallation(request.id.text) }
            return record
        }
        let installation = InstallationDocument(
            installationID: request.id.text, userID: request.userID, platform: request.platform,
            pushChannel: .handle(handle.text), expirationTime: request.expiresAt, tags: request.tags.map(\.text),
            pushVariables: request.pushVariables)
        try await asService { try await putInstallation(installation) }
        return record
    }

    /// The device as the hub knows it. When it was registered the protocol does not tell: the moment is that of the question.
    public func device(_ id: RecordID) async throws -> DeviceRecord? {
        guard let installation = try await asService({ try await installation(id.text) }) else { return nil }
        let now = clock.now
        return DeviceRecord(
            id: id, kind: .installation, platform: installation.platform,
            handle: DeviceHandle(installation.pushChannel.handle, platform: installation.platform),
            tags: installation.tags.compactMap { Tag($0) }, userID: installation.userID, createdAt: now, registeredAt: now,
            expiresAt: installation.expirationTime, parkedAt: installation.pushChannelExpired == true ? now : nil,
            pushVariables: installation.pushVariables)
    }

    /// The protocol's removal does not say whether there was one, so the hub is asked before.
    public func removeDevice(_ id: RecordID) async throws -> Bool {
        try await asService {
            guard try await installation(id.text) != nil else { return false }
            try await deleteInstallation(id.text)
            return true
        }
    }
}
