import Crypto
import RichPushModel

/// Divides the users that a send reaches into groups that get different texts, to find out which works better.
///
/// Chance decides, but always in the same way: a user is in one group with all devices, however often it is asked.
public struct PushSplit: Hashable, Sendable {
    /// The most groups.
    public static let limit = 10

    /// Users are in the same groups in all sends with the same key and the same shares. 1 to 64 letters, digits, dots, hyphens and
    /// underscores.
    public let key: String
    /// How many of a hundred users each group has. What is left of the hundred is group 0, which gets the send as it is.
    public let percents: [Int]

    /// Creates a split; `nil` for values outside the ranges.
    public init?(key: String, percents: [Int]) {
        guard HeaderText.isTopic(key), key.utf8.count <= 64, (1...Self.limit).contains(percents.count),
            percents.allSatisfy({ (1...100).contains($0) }), percents.reduce(0, +) <= 100
        else { return nil }
        (self.key, self.percents) = (key, percents)
    }

    /// The number of a user's group, from 1; 0 for the rest.
    public func group(of recipient: PushRecipient) -> Int {
        let place = Self.number("\(key)\n\(recipient.name)") % 100
        var end = 0
        for (index, percent) in percents.enumerated() {
            end += percent
            if place < end { return index + 1 }
        }
        return 0
    }

    private static func number(_ text: String) -> UInt64 {
        SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The form in which storage keeps it: `50,30 key`.
    public var stored: String { "\(percents.map(String.init).joined(separator: ",")) \(key)" }

    /// Reads the stored form.
    public init?(stored: String) {
        let parts = stored.split(separator: " ")
        guard parts.count == 2 else { return nil }
        self.init(key: String(parts[1]), percents: parts[0].split(separator: ",").compactMap { Int($0) })
    }
}

/// Who gets a push, for what the server decides for each user and not for each device.
public struct PushRecipient: Hashable, Sendable {
    /// The tag of the user as an audience matches it, or a name that stands for a device without a user.
    public let name: String

    /// The signed-in user.
    public init(user: UserName) { name = Tag.user(user).folded }

    /// The user of a device: the signed-in one, else the one that a client of the hub protocol named. A device without one stands for
    /// itself.
    public init(tags: some Sequence<Tag>, userID: String?, device: RecordID) {
        let user = tags.first { $0.folded.hasPrefix(Self.userPrefix) } ?? userID.flatMap(Tag.addressedUser)
        name = user?.folded ?? "device:\(device.text)"
    }

    private static let userPrefix = "username:"
}
