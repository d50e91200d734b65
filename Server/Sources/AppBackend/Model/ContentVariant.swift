/// Which of the stored forms of a content is meant. Variants are uploaded by the sender, never made by the server.
public enum ContentVariant: String, Sendable, Codable, CaseIterable {
    /// The bytes that the sender uploaded, without metadata.
    case original
    /// The small form for the service extension; without one, the original if it has at most 500 KB.
    case thumb

    /// The most bytes an original may have to stand in for a missing thumb (500 KB).
    public static let largestStandIn: Int64 = 500 * 1024
}
