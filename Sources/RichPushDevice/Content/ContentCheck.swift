import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Whether downloaded bytes are what the server described and of a type that may be shown.
enum ContentCheck {
    /// Refuses before the download what would be refused after it.
    static func admit(_ descriptor: ContentDescriptor, maximumBytes: Int64) throws(RichPushError) {
        guard MediaFormat(declared: descriptor.mediaType) != nil else { throw .badMediaType }
        guard descriptor.byteCount >= 0, descriptor.byteCount <= maximumBytes else { throw .tooLarge }
    }

    /// Size and SHA-256 first, then the type by its first bytes.
    static func verify(_ file: URL, against descriptor: ContentDescriptor) throws(RichPushError) {
        guard let inspection = FileInspection(of: file) else { throw .storage(.failed) }
        guard inspection.byteCount == descriptor.byteCount, inspection.sha256 == descriptor.sha256.lowercased() else {
            throw .contentMismatch
        }
        guard let format = MediaFormat(declared: descriptor.mediaType), format.matches(head: inspection.head) else {
            throw .badMediaType
        }
    }
}
