import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// Creates or replaces an installation. A caller who signed with a password gets a new installation credential, and the
    /// one before is void; a caller who signed with the credential may do this to its own installation only.
    ///
    /// Throws as `putRegistration` does.
    public func putInstallation(
        id: InstallationID, update: InstallationUpdate, for principal: Principal
    ) async throws -> InstallationAnswer {
        throw ServiceError(.notReady)
    }

    /// Signs an installation out: its device record and its credential go. Throws `not-found` for any but the caller's own.
    public func deleteInstallation(id: InstallationID, for principal: Principal) async throws {
        throw ServiceError(.notReady)
    }
}
