import PushHub
import RichPushModel
import ServiceErrors
import WireText

/// The rich push tutorial's registrations, to the letter.
extension RichPushBackend {
    /// A new registration id of 128 random bits. Nothing is stored yet. A malformed handle is refused now.
    public func newRegistration(handle: String?, for principal: Principal) async throws -> RecordID {
        try principal.requirePassword(to: "register another device")
        if let handle { _ = try Self.handle(handle, platform: .apns) }
        guard let id = RecordID(Hexadecimal.random(byteCount: 16)) else { throw ServiceError(.internal) }
        return id
    }

    /// Creates or replaces a registration. The server adds the user's own tag; other records of the handle go.
    ///
    /// Throws `registration-gone` for the id of another user unless the stored handle is the same, `forbidden` for a protected
    /// tag of somebody else, `invalid-field` for anything malformed.
    public func putRegistration(
        id: String, platform: String, handle: String, tags: [String], for principal: Principal
    ) async throws {
        try principal.requirePassword(to: "register another device")
        let platform = try Self.platform(platform)
        let device = BoundDevice(
            record: try Self.recordID(id), kind: .registration, platform: platform,
            handle: try Self.handle(handle, platform: platform),
            tags: try tagRules.tags(TagRules.read(tags), of: principal.name))
        try await register(device, with: .none, for: principal)
    }

    /// Removes one of the caller's registrations; a repeat is harmless. Throws `not-found` for any other.
    public func deleteRegistration(id: String, for principal: Principal) async throws {
        try principal.requirePassword(to: "remove another device")
        guard let installation = InstallationID(id), let record = RecordID(installation.text) else {
            throw ServiceError(.notFound, "there is no such registration")
        }
        try await unregister(record, for: principal)
    }

    var tagRules: TagRules { TagRules(protectedPrefixes: parts.settings.protectedTagPrefixes) }

    /// Ids that clients choose have the characters of an installation id, so that they are safe in every path and log.
    static func recordID(_ text: String) throws -> RecordID {
        guard let id = InstallationID(text).flatMap({ RecordID($0.text) }) else {
            throw ServiceError(.invalidField, "id: a registration id has 1 to 128 of A-Z a-z 0-9 _ -")
        }
        return id
    }

    static func platform(_ text: String) throws -> Platform {
        guard text == Platform.apns.rawValue else {
            throw ServiceError(.invalidField, "platform: apns is the only platform that this server sends through")
        }
        return .apns
    }

    static func handle(_ text: String, platform: Platform) throws -> DeviceHandle {
        guard let handle = DeviceHandle(text, platform: platform) else {
            throw ServiceError(.invalidField, "handle: a device token is 1 to 200 bytes in hexadecimal")
        }
        return handle
    }
}
