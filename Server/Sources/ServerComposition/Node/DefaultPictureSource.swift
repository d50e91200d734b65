import ServerSettings
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where the picture of a send without a body comes from.
package enum DefaultPictureSource {
    /// The built-in picture, a PNG.
    package static var builtIn: [UInt8] { PackageResources.default_picture_png }

    /// The bytes of the operator's picture, or of the built-in one. Throws when the operator's cannot be read.
    static func read(_ settings: Settings) throws -> (bytes: [UInt8], fileName: String) {
        guard let path = settings.notifications.defaultPicturePath else {
            return (builtIn, "picture.png")
        }
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw ServiceError(.notReady, "default-picture-path: \(path) cannot be read")
        }
        return (Array(data), URL(filePath: path).lastPathComponent)
    }
}
