import PushHub

/// A device is being changed here and at the hub, which are two steps: a process may die between them, and what one node writes to the
/// hub late may come after what another has written since. As long as the change is noted, somebody will look whether the hub says what the
/// binding says.
public struct DeviceChange: Hashable, Sendable {
    /// The device's record.
    public var record: RecordID
    /// Which of several changes of the record it is.
    public var mark: Int64

    /// Creates a change; the mark is a number by chance unless one is given.
    public init(_ record: RecordID, mark: Int64 = DeviceChange.newMark()) {
        self.record = record
        self.mark = mark
    }

    /// A number by chance, for several changes that begin together.
    public static func newMark() -> Int64 { .random(in: 1 ... .max) }
}
