#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the settings need to know of the machine: files, and whether a text is a signing key or a list of certificates.
public struct SettingsSurroundings: Sendable {
    /// Reads a small text file; the error's description is shown to the operator.
    public var readText: @Sendable (_ path: String) throws -> String
    /// Whether a file is there and may be read.
    public var isReadable: @Sendable (_ path: String) -> Bool
    /// What is wrong with a signing key, as a sentence that shows nothing of it; `nil` when it is fit for use.
    public var checkAPNsKey: @Sendable (SecretText) -> String?
    /// What is wrong with the text of `apns-trust-roots-path`; `nil` when it is fit for use.
    public var checkTrustRoots: @Sendable (String) -> String?

    /// Creates surroundings; a test hands in its own.
    public init(
        readText: @escaping @Sendable (String) throws -> String, isReadable: @escaping @Sendable (String) -> Bool,
        checkAPNsKey: @escaping @Sendable (SecretText) -> String?,
        checkTrustRoots: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.readText = readText
        self.isReadable = isReadable
        self.checkAPNsKey = checkAPNsKey
        self.checkTrustRoots = checkTrustRoots
    }

    /// The real file system. Files above `largestFile` bytes are refused: nothing that is a setting is that large.
    public static func machine(
        checkAPNsKey: @escaping @Sendable (SecretText) -> String?, checkTrustRoots: @escaping @Sendable (String) -> String?
    ) -> SettingsSurroundings {
        SettingsSurroundings(
            readText: { path in
                if let fault = SettingFileFault(opening: path) { throw fault }
                guard let data = FileManager.default.contents(atPath: path) else { throw SettingFileFault.noFile }
                guard data.count <= largestFile else { throw SettingFileFault.tooLarge }
                guard let text = String(validating: data, as: UTF8.self) else { throw SettingFileFault.notText }
                return text
            },
            isReadable: { FileManager.default.isReadableFile(atPath: $0) }, checkAPNsKey: checkAPNsKey,
            checkTrustRoots: checkTrustRoots)
    }

    static let largestFile = 1_000_000
}
