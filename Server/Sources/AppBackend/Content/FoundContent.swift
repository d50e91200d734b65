import RichPushModel

/// A content that the caller may read, not opened yet.
public struct FoundContent: Sendable {
    public let descriptor: ContentDescriptor
    let id: RichID
    let digest: ContentDigest
}
