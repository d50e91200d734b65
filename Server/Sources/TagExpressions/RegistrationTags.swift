import RichPushModel

/// The tags of a registration or of an installation, as a client of the hub protocol sends them
/// (Reference/AzureNotificationHubs.md#3-1).
///
/// Tags that differ in case only count once; the first spelling stays.
public struct RegistrationTags: Hashable, Sendable {
    /// The most tags that a list may have where nothing else is said.
    public static let limit = 60

    /// The tags that the client chose, in its order.
    public let tags: [Tag]

    /// `$InstallationId:{…}` and `$UserId:{…}`, at most one of each. The hub adds these by itself, so a client that stores what it
    /// read sends them back. They grant nothing: the values are taken from the record, never from here.
    public let addresses: [Tag]

    /// Reads the comma-separated list of a registration: blanks around a tag and empty places mean nothing.
    public init(separatedByCommas text: String) throws(RegistrationTagsError) {
        try self.init(Tag.texts(separatedByCommas: text))
    }

    /// Reads the list of an installation, one text for each tag. `limit` bounds the tags that the client chose; a caller that counts
    /// them afterwards passes none.
    public init(_ texts: [String], limit: Int = Self.limit) throws(RegistrationTagsError) {
        var tags: [Tag] = []
        var addresses: [Tag] = []
        var seen: Set<Tag> = []
        for (index, text) in texts.enumerated() {
            let mistake: RegistrationTagsError.Reason? =
                if let tag = Tag(text) {
                    Self.add(tag, to: &tags, unlessIn: &seen, limit: limit)
                } else if let address = Tag.addressing(text) {
                    Self.addAddress(address, to: &addresses)
                } else {
                    text.hasPrefix("$") ? .malformedAddress : .malformedTag
                }
            if let mistake { throw RegistrationTagsError(mistake, at: index + 1) }
        }
        self.tags = tags
        self.addresses = addresses
    }

    private static func add(
        _ tag: Tag, to tags: inout [Tag], unlessIn seen: inout Set<Tag>, limit: Int
    ) -> RegistrationTagsError.Reason? {
        guard seen.insert(tag).inserted else { return nil }
        tags.append(tag)
        return tags.count > limit ? .tooManyTags : nil
    }

    private static func addAddress(_ address: Tag, to addresses: inout [Tag]) -> RegistrationTagsError.Reason? {
        func kind(_ tag: Tag) -> Substring { tag.folded.prefix { $0 != ":" } }
        guard !addresses.contains(address) else { return nil }
        guard !addresses.contains(where: { kind($0) == kind(address) }) else { return .repeatedAddress }
        addresses.append(address)
        return nil
    }
}

/// Why a list of tags is refused.
public struct RegistrationTagsError: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        case malformedTag
        /// A `$` that begins neither `$InstallationId:{…}` nor `$UserId:{…}`.
        case malformedAddress
        case repeatedAddress
        case tooManyTags
    }

    public let reason: Reason
    /// Which tag of the list, counted from 1; empty places do not count.
    public let position: Int

    public init(_ reason: Reason, at position: Int) {
        self.reason = reason
        self.position = position
    }
}

extension RegistrationTagsError: CustomStringConvertible {
    /// A sentence for the caller; it repeats nothing of the input.
    public var description: String {
        switch reason {
        case .malformedTag: "tag \(position) of the list: a tag has 1 to 120 letters, digits and _ @ # . : -"
        case .malformedAddress:
            "tag \(position) of the list: only $InstallationId:{…} and $UserId:{…} may begin with $, with 1 to 256 characters "
                + "but } and control characters"
        case .repeatedAddress: "tag \(position) of the list: $InstallationId:{…} and $UserId:{…} may be there once each"
        case .tooManyTags: "the list has more than \(RegistrationTags.limit) tags"
        }
    }
}
