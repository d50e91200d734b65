import PushHub
import RichPushModel
import ServiceErrors

/// Which tags a client may give its device.
struct TagRules {
    var protectedPrefixes: [String]

    /// The tags of the device: the client's and, first, the user's own. The user's own among the client's is dropped, since it
    /// is there anyway. Throws `forbidden` for another protected tag and `invalid-field` for too many.
    func tags(_ asked: [Tag], of user: UserName) throws -> [Tag] {
        let own = Tag.user(user)
        var tags = [own]
        for tag in asked where tag != own && !tags.contains(tag) {
            if let prefix = protectedPrefixes.first(where: { tag.folded.hasPrefix($0.lowercased()) }) {
                throw ServiceError(.forbidden, "tags that begin with \(prefix) are set by the server only")
            }
            tags.append(tag)
        }
        guard tags.count <= Self.maximumTags else {
            throw ServiceError(.invalidField, "tags: a device has at most \(Self.maximumTags) tags with the user's own")
        }
        return tags
    }

    /// Reads tags given as text. Throws `invalid-field` naming the first malformed one by its position.
    static func read(_ texts: [String]) throws -> [Tag] {
        try texts.enumerated().map { index, text in
            guard let tag = Tag(text) else {
                throw ServiceError(.invalidField, "tags[\(index)]: a tag has 1 to 120 letters, digits and _ @ # . : -")
            }
            return tag
        }
    }

    /// As many as a registration of the hub protocol may have (Reference/AzureNotificationHubs.md#3-1).
    static let maximumTags = 60
}
