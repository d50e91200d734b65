/// The internal number of a hub; every row of the hub's data carries it.
public struct HubID: Hashable, Sendable, Comparable {
    public let number: Int64

    /// Creates an id.
    public init(_ number: Int64) { self.number = number }

    public static func < (left: HubID, right: HubID) -> Bool { left.number < right.number }
}
