/// A mistake that is made on purpose in a copy of the sources, to see that the tests that promise otherwise fail.
public struct Mistake: Hashable, Sendable {
    /// One exact text in place of another, which must occur once.
    public struct Edit: Hashable, Sendable {
        public var file: String
        public var was: String
        public var becomes: String

        /// The file's text with the mistake; `nil` when the text to replace does not occur exactly once.
        public func applied(to text: String) -> String? {
            let parts = text.split(separator: was, omittingEmptySubsequences: false)
            return parts.count == 2 ? parts.joined(separator: becomes) : nil
        }
    }

    /// The number of the complaint in Documentation/APNsComplaints.md.
    public var complaint: Int
    /// What is wrong with the product then.
    public var sentence: String
    /// Mistakes of one group are made together and built once.
    public var group: Int
    /// The tests that must fail, as `Suite.function`; the first is the one that the complaint names.
    public var fails: [String]
    public var edits: [Edit]
}
