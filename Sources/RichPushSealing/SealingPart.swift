import RichPushModel

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file to seal, with what the sender says of it.
public struct SealingPart: Sendable {
    public var bytes: Data
    public var format: MediaFormat
    /// The name that its readers see; never a path.
    public var fileName: String?

    /// Creates a part.
    public init(bytes: Data, format: MediaFormat, fileName: String? = nil) {
        self.bytes = bytes
        self.format = format
        self.fileName = fileName
    }

    var descriptor: ContentDescriptor {
        ContentDescriptor(
            mediaType: format.rawValue, byteCount: Int64(bytes.count),
            sha256: SealingDerivation.hexadecimal(SHA256.hash(data: bytes)), fileName: fileName)
    }
}
