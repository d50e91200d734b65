import PushHub
import RichPushModel

/// Reaches everything that is stored about one person, in every table. Errors are `ServiceError`. Each call works in small
/// transactions and can be repeated after it was cut off.
public protocol PersonStore: Sendable {
    /// The kinds of records there are, in the order in which an export shows them.
    var kinds: [String] { get }

    /// At most `limit` records of a kind about the user, after `cursor`. Password hashes, digests of credentials and device
    /// tokens beyond their first six characters are not among the fields.
    func records(
        _ kind: String, of user: UserID, after cursor: PersonValue?, limit: Int
    ) async throws -> [PersonRecord]

    /// Ends every way to sign in as the user and what is signed in.
    func lockOut(_ user: UserID) async throws

    /// Notifications that go with the user and are not recalled, or not cancelled at the hub, yet: those they sent, and those for them alone.
    func notificationsToRecall(of user: User, limit: Int) async throws -> [RichID]

    /// Every device record that was ever bound to the user.
    func devices(of user: UserID) async throws -> [RecordID]

    /// Removes everything that is stored about the user, themself last. What others sent to more than the user stays and names
    /// them no more; receipts and audit entries stay and belong to nobody. Sends to recall have to be recalled before.
    func erase(_ user: User, at now: Timestamp) async throws
}

/// One stored row about a person.
public struct PersonRecord: Hashable, Sendable {
    /// Of what kind it is: the table.
    public var kind: String
    /// The fields by name, in order.
    public var fields: [Field]
    /// Where the next page begins.
    public var cursor: PersonValue

    /// One field of a record.
    public struct Field: Hashable, Sendable {
        public var name: String
        public var value: PersonValue

        /// Creates a field.
        public init(_ name: String, _ value: PersonValue) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a record.
    public init(kind: String, fields: [Field], cursor: PersonValue) {
        self.kind = kind
        self.fields = fields
        self.cursor = cursor
    }
}

/// The value of a field. Moments are milliseconds since 1970.
public enum PersonValue: Hashable, Sendable {
    case absent
    case number(Int64)
    case text(String)
}
