import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushBackend {
    /// Creates or replaces an installation. A caller who signed with a password gets a new installation credential, and the
    /// one before is void; a caller who signed with the credential may do this to its own installation only.
    ///
    /// Throws as `putRegistration` does; `forbidden` for another installation than the credential's.
    public func putInstallation(
        id: InstallationID, update: InstallationUpdate, for principal: Principal
    ) async throws -> InstallationAnswer {
        try Self.requireOwn(id, of: principal)
        let device = try self.device(id, update, for: principal)
        if principal.installation != nil {
            guard let digest = principal.credentialDigest else { throw BearerAuthenticator.notValid }
            try await register(device, with: .presented(digest), for: principal)
            return InstallationAnswer(
                credential: nil, credentialExpiresAt: nil, user: principal.name.text,
                environments: await parts.pushEnvironments?())
        }
        let credential = InstallationCredential(for: id)
        let expiry = parts.clock.now + parts.settings.credentialLifetime
        let issued = StoredInstallationCredential(
            // The version that was verified, not the newest: a password changed meanwhile must end this credential too.
            installation: id, user: principal.userID, digest: credential.digest,
            credentialVersion: principal.credentialVersion, expiresAt: expiry)
        try await register(device, with: .issue(issued), for: principal)
        return InstallationAnswer(
            credential: credential.text, credentialExpiresAt: expiry, user: principal.name.text,
            environments: await parts.pushEnvironments?())
    }

    /// Signs an installation out: its device record and its credential go; a repeat with a password is harmless. Throws
    /// `not-found` for any but the caller's own.
    public func deleteInstallation(id: InstallationID, for principal: Principal) async throws {
        try Self.requireOwn(id, of: principal)
        guard let record = RecordID(id.text) else { throw ServiceError(.notFound, "there is no such registration") }
        try await unregister(record, for: principal)
    }

    private static func requireOwn(_ id: InstallationID, of principal: Principal) throws {
        guard principal.installation == nil || principal.installation == id else {
            throw ServiceError(.forbidden, "an installation credential is for its own installation only")
        }
    }

    private func device(
        _ id: InstallationID, _ update: InstallationUpdate, for principal: Principal
    ) throws -> BoundDevice {
        let platform = try Self.platform(update.platform)
        if let environment = update.environment, environment != "sandbox", environment != "production" {
            throw ServiceError(.invalidField, "environment: it is sandbox or production")
        }
        if let topic = update.topic { try Self.checkTopic(topic) }
        return BoundDevice(
            record: try Self.recordID(id.text), kind: .installation, platform: platform,
            handle: try update.handle.map { try Self.handle($0, platform: platform) }, environment: update.environment,
            topic: update.topic, tags: try tagRules.tags(update.tags, of: principal.name),
            sealingKey: try update.sealingKey.map(Self.checkedKey), facts: try DeviceFacts(update))
    }

    /// One key has one text, so that a repeat is seen as such.
    private static func checkedKey(_ text: String) throws -> String {
        guard text.utf8.count == 44, let key = Data(base64Encoded: text), key.count == 32, key.base64EncodedString() == text
        else {
            throw ServiceError(.invalidField, "sealingKey: it is the base64 of 32 bytes")
        }
        return text
    }

    /// A topic becomes a header of every push to the device.
    private static func checkTopic(_ topic: String) throws {
        let allowed = topic.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard (1...255).contains(topic.utf8.count), allowed else {
            throw ServiceError(.invalidField, "topic: a bundle id has 1 to 255 visible ASCII characters")
        }
    }
}
