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

    /// Creates an error.
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
