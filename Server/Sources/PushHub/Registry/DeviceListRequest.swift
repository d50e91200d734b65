import RichPushModel

/// A question for a page of records, in order of slice key.
public struct DeviceListRequest: Hashable, Sendable {
    /// Which records.
    public enum Selection: Hashable, Sendable {
        case all
        /// Those that have the tag; `$InstallationId:{…}` and `$UserId:{…}` work as well.
        case tag(Tag)
        /// Those whose handle is one of these spellings, on the platform or on any. At most `maximumHandles`.
        case handles([DeviceHandle], platform: Platform?)
    }

    /// The most records of a page.
    public static let maximumLimit = 1_000
    /// About how many bytes of text a page has at most: it lies in memory until it is sent. A page ends before the record that would
    /// be too much, so one with short templates is never cut by it at the 100 records that Azure gives.
    public static let maximumBytes = 2 << 20
    /// The most spellings of a handle.
    public static let maximumHandles = 16

    public var selection: Selection
    /// Only records after this key: the `next` of the page before.
    public var after: SliceKey
    /// At most so many records, 1 to 1,000.
    public var limit: Int
    /// A page has fewer records where they have more text than this together, but always one.
    public var byteLimit = Self.maximumBytes
    /// Whether templates are read: who only counts needs none.
    public var readsTemplates = true

    /// Creates a question.
    public init(_ selection: Selection, after: SliceKey = .beforeAll, limit: Int = 100) {
        self.selection = selection
        self.after = after
        self.limit = limit
    }
}

/// A page of records: native targets and templates, those of installations too. Records without a handle are in no list. It may have
/// fewer records than were asked for and not be the last: `next` alone says that.
public struct DevicePage: Hashable, Sendable {
    public var records: [DeviceRecord]
    /// Where the next page begins; `nil` when this is the last one, also when it is exactly full
    /// (Reference/AzureNotificationHubs.md#2-5).
    public var next: SliceKey?

    /// Creates a page.
    public init(records: [DeviceRecord], next: SliceKey?) {
        self.records = records
        self.next = next
    }
}
