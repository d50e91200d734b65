import PushHub
import RichPushModel
import ServiceErrors

/// The tutorial's registrations, to the letter.
extension RichPushBackend {
    /// A new registration id of 128 random bits. Nothing is stored yet. A malformed handle is refused now.
    public func newRegistration(handle: String?, for principal: Principal) async throws -> RecordID {
        throw ServiceError(.notReady)
    }

    /// Creates or replaces a registration. The server adds the user's own tag; other records of the handle go.
    ///
    /// Throws `registration-gone` for the id of another user unless the stored handle is the same, `forbidden` for a protected
    /// tag of somebody else, `invalid-field` for anything malformed.
    public func putRegistration(
        id: String, platform: String, handle: String, tags: [String], for principal: Principal
    ) async throws {
        throw ServiceError(.notReady)
    }

    /// Removes one of the caller's registrations. Throws `not-found` for any other.
    public func deleteRegistration(id: String, for principal: Principal) async throws {
        throw ServiceError(.notReady)
    }
}
