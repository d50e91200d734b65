import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where the picture of a send without a body comes from.
enum DefaultPictureSource {
    /// The bytes of the operator's picture, or of the built-in one. Throws when the operator's cannot be read.
    static func read(_ settings: Settings) throws -> (bytes: [UInt8], fileName: String) {
        guard let path = settings.notifications.defaultPicturePath else {
            return (PackageResources.default_picture_png, "picture.png")
        }
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw ServiceError(.notReady, "default-picture-path: \(path) cannot be read")
        }
        return (Array(data), URL(filePath: path).lastPathComponent)
    }
}
