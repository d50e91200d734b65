import RichPushModel
import ServiceErrors

extension DeviceUpsert {
    /// Checks the request; throws `ServiceError` (`invalid-field`) for what a hub does not keep.
    func checked(at now: Timestamp) throws -> DeviceUpsert {
        var request = self
        request.tags = Self.withoutRepeats(tags)
        try request.checkTags()
        try request.checkHandle()
        try request.checkWords()
        if let expiresAt, expiresAt <= now {
            throw ServiceError(.invalidField, "the expiration time of a device lies in the past")
        }
        return request
    }

    private func checkTags() throws {
        guard tags.count <= DeviceRecord.maximumTags else {
            throw ServiceError(.invalidField, "a device has at most \(DeviceRecord.maximumTags) tags")
        }
        // The server adds these two itself; a client that could set them could receive for others.
        guard !tags.contains(where: { $0.text.hasPrefix("$") }) else {
            throw ServiceError(.invalidField, "a device cannot be given a tag that begins with $")
        }
    }

    private func checkHandle() throws {
        guard let handle else {
            if kind == .registration { throw ServiceError(.invalidField, "a registration needs a handle") }
            return
        }
        guard DeviceHandle(handle.text, platform: platform) == handle else {
            throw ServiceError(.invalidField, "the handle is not one of platform \(platform.rawValue.prefix(16))")
        }
    }

    private func checkWords() throws {
        guard (1...16).contains(platform.rawValue.utf8.count), HeaderText.isSafe(platform.rawValue) else {
            throw ServiceError(.invalidField, "the platform is not a known word")
        }
        if let environment, environment != "sandbox", environment != "production" {
            throw ServiceError(.invalidField, "the environment of a device is sandbox or production")
        }
        if let topic { try HeaderText.checkTopic(topic) }
        if let userID, !(1...256).contains(userID.utf8.count) {
            throw ServiceError(.invalidField, "a user id has 1 to 256 bytes")
        }
    }

    /// The first spelling of each tag stays.
    private static func withoutRepeats(_ tags: [Tag]) -> [Tag] {
        var seen: Set<Tag> = []
        return tags.filter { seen.insert($0).inserted }
    }
}
