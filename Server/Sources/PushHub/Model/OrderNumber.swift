/// A place in the order of a database's commits: a later one is larger, whatever the clocks of machines say.
///
/// A record gets the number that is current when it is made. A send takes the current number as its mark, and the number goes up.
/// So a record that was committed before a send began has a number up to the mark, and one that was begun after it a larger one.
public struct OrderNumber: Hashable, Comparable, Sendable {
    public let number: Int64

    /// Creates a number.
    public init(_ number: Int64) { self.number = number }

    /// After everything.
    public static let last = OrderNumber(.max)

    public static func < (left: OrderNumber, right: OrderNumber) -> Bool { left.number < right.number }
}
