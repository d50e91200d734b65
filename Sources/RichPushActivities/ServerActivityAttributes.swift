#if canImport(ActivityKit) && canImport(UIKit)
    import ActivityKit
    import RichPushModel

    /// Attributes of Live Activities that a server moves. The server adds its number to what it sends for them.
    ///
    /// ```swift
    /// struct DeliveryAttributes: ServerActivityAttributes {
    ///     struct ContentState: ServerActivityState {
    ///         var stage: String
    ///         var clarionRevision: Int64?
    ///     }
    ///     var order: String
    ///     var clarionActivity: Int64?
    /// }
    /// ```
    ///
    /// Dates travel as numbers: the system decodes a `Date` as seconds since 2001, and a `Timestamp` of `RichPushModel` as milliseconds since
    /// 1970. A property that a later version adds is optional, or an activity that goes on from before cannot be read.
    @available(iOS 16.2, *)
    public protocol ServerActivityAttributes: ActivityAttributes, Sendable where ContentState: ServerActivityState {
        /// The server's number of the activity; absent in one that the server does not know.
        var clarionActivity: Int64? { get }
        /// The number of an earlier activity, which ends when the device shows this one.
        var clarionReplaces: Int64? { get }
    }

    @available(iOS 16.2, *)
    extension ServerActivityAttributes {
        public var clarionReplaces: Int64? { nil }
    }

    /// What changes of a Live Activity that a server moves.
    @available(iOS 16.2, *)
    public protocol ServerActivityState: Codable, Hashable, Sendable {
        /// Which of the server's revisions it is. The server sets it in each push.
        var clarionRevision: Int64? { get }
        /// The id of a rich notification whose picture the activity shows. `LiveActivityPicture` gives it to the view.
        var clarionPicture: RichID? { get }
    }

    @available(iOS 16.2, *)
    extension ServerActivityState {
        public var clarionPicture: RichID? { nil }
    }
#endif
