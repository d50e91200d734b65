extension APNsPush {
    /// What the caller knows of the device token, which decides in whose company the push travels.
    ///
    /// One refusal lowers the limit of a whole connection to a single stream until the next success (Reference/APNs.md#1-4). So
    /// doubtful tokens go over a connection of their own, where they slow down each other only.
    public enum Standing: UInt8, Sendable, Hashable, Comparable, CaseIterable {
        /// Refused not long ago: for the separate connection.
        case suspect
        /// Never accepted so far, and of doubtful origin, such as an old import: for the separate connection.
        case untried
        /// Nothing special is known.
        case ordinary
        /// Accepted not long ago: sent first when a success is needed to restore a limit.
        case proven

        /// Whether the push keeps apart from the others.
        public var isDoubtful: Bool { self < .ordinary }

        public static func < (left: Standing, right: Standing) -> Bool { left.rawValue < right.rawValue }
    }
}
