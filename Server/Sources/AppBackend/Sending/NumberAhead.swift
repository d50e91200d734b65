import RichPushModel

/// The numbers that a sender may ask for, because a seal is bound to its notification's number before the send. Numbers are
/// given in the order of the commits, and inboxes rely on that; so nothing is reserved: who comes too late asks again. Some way
/// ahead, so that the sends of others that come in between seldom matter.
public enum NumberAhead {
    /// How far beyond the last number a draft may ask. What is skipped is lost, of two thousand million.
    public static let limit: Int32 = 64
    /// How far ahead a number is told.
    static let told: ClosedRange<Int32> = 1...16

    /// A number for somebody who will send soon.
    static func number(after last: Int32) -> RichID? {
        RichID(number: last.addingReportingOverflow(.random(in: told)).partialValue)
    }
}
