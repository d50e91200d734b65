#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Bytes that are on the phone now, exactly as the engine fetched and checked them.
public struct PhoneMedia: Hashable, Sendable {
    /// The type that the server declared and the bytes confirmed.
    public var mediaType: String
    /// A file of the simulated phone. It may vanish when the phone needs room or the user signs out.
    public var file: URL
    /// The name that the sender gave it. A stranger's text: for display and, cleaned, for saving, never a path.
    public var fileName: String?

    /// Creates a description of bytes on the phone.
    public init(mediaType: String, file: URL, fileName: String? = nil) {
        self.mediaType = mediaType
        self.file = file
        self.fileName = fileName
    }
}
