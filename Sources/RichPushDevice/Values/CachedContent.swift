#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A content that is on the device.
public struct CachedContent: Hashable, Sendable, Codable {
    /// It may vanish at any time when room is needed; hand a copy to code that moves files.
    public var file: URL
    public var mediaType: String
    public var byteCount: Int64

    /// Describes a file.
    public init(file: URL, mediaType: String, byteCount: Int64) {
        self.file = file
        self.mediaType = mediaType
        self.byteCount = byteCount
    }
}
