import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A content that the page brings along, so that a kind can be sent before somebody looks for a file.
public struct PhoneSample: Hashable, Sendable {
    public var kind: ContentKind
    public var bytes: Data
    public var mediaType: String
    public var fileName: String
    public var altText: String

    /// Creates a sample.
    public init(kind: ContentKind, bytes: Data, mediaType: String, fileName: String, altText: String) {
        self.kind = kind
        self.bytes = bytes
        self.mediaType = mediaType
        self.fileName = fileName
        self.altText = altText
    }
}
