import RichPushDevice

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The phone's key chain: one file per secret, readable by the owner of this process only. What is for the app alone lies in a
/// folder that the extension's key chain is not given. It survives a sign-out and the removal of the app, as the real one does; before
/// the first unlock nothing of it can be read, since every secret is of the class "after first unlock, this device only".
struct SimulatedKeychain: SecretStore {
    private let group: URL
    private let app: URL?
    private let data: ProtectedData

    /// Opens the key chain of a phone for one of its processes.
    init(folder: URL, isForApp: Bool, data: ProtectedData) throws {
        self.data = data
        group = folder.appendingPathComponent("group")
        app = isForApp ? folder.appendingPathComponent("app") : nil
        for folder in [group, app].compactMap(\.self) {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    private func file(_ key: SecretKey) -> URL? {
        (key.isForAppOnly ? app : group)?.appendingPathComponent(key.rawValue)
    }

    func secret(_ key: SecretKey) throws(StorageError) -> String? {
        try data.check()
        guard let file = file(key), FileManager.default.fileExists(atPath: file.path) else { return nil }
        guard let data = try? Data(contentsOf: file) else { throw .failed }
        return String(decoding: data, as: UTF8.self)
    }

    func setSecret(_ secret: String, for key: SecretKey) throws(StorageError) {
        try data.check()
        guard let file = file(key) else { throw .failed }
        do { try Data(secret.utf8).write(to: file, options: .atomic) } catch { throw .failed }
        do {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            // Unless it has been removed since: an app that was ended may not have heard of it yet.
            if FileManager.default.fileExists(atPath: file.path) { throw .failed }
        }
    }

    func removeSecret(_ key: SecretKey) throws(StorageError) {
        try data.check()
        guard let file = file(key), FileManager.default.fileExists(atPath: file.path) else { return }
        do {
            try FileManager.default.removeItem(at: file)
        } catch {
            // Somebody else may have been faster.
            if FileManager.default.fileExists(atPath: file.path) { throw .failed }
        }
    }
}
