#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the settings need to know of the machine: files, and whether a text is a signing key.
public struct SettingsSurroundings: Sendable {
    /// Reads a small text file; the error's description is shown to the operator.
    public var readText: @Sendable (_ path: String) throws -> String
    /// Whether a file is there and may be read.
    public var isReadable: @Sendable (_ path: String) -> Bool
    /// What is wrong with a signing key, as a sentence that shows nothing of it; `nil` when it is fit for use.
    public var checkAPNsKey: @Sendable (SecretText) -> String?

    /// Creates surroundings; a test hands in its own.
    public init(
        readText: @escaping @Sendable (String) throws -> String, isReadable: @escaping @Sendable (String) -> Bool,
        checkAPNsKey: @escaping @Sendable (SecretText) -> String?
    ) {
        self.readText = readText
        self.isReadable = isReadable
        self.checkAPNsKey = checkAPNsKey
    }

    /// The real file system. Files above `largestFile` bytes are refused: nothing that is a setting is that large.
    public static func machine(checkAPNsKey: @escaping @Sendable (SecretText) -> String?) -> SettingsSurroundings {
        SettingsSurroundings(
            readText: { path in
                guard FileManager.default.fileExists(atPath: path) else { throw FileFault.missing }
                guard let data = FileManager.default.contents(atPath: path) else { throw FileFault.unreadable }
                guard data.count <= largestFile else { throw FileFault.tooLarge }
                guard let text = String(validating: data, as: UTF8.self) else { throw FileFault.notText }
                return text
            },
            isReadable: { FileManager.default.isReadableFile(atPath: $0) }, checkAPNsKey: checkAPNsKey)
    }

    static let largestFile = 1_000_000

    private enum FileFault: String, Error, CustomStringConvertible {
        case missing = "there is no such file"
        case unreadable = "it is no file, or this user may not read it"
        case tooLarge = "it is larger than a megabyte"
        case notText = "it is not UTF-8 text"

        var description: String { rawValue }
    }
}
