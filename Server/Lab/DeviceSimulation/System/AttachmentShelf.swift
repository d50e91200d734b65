import RichPushDevice

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Where the system keeps the files of shown notifications. It takes only what it can show, and moves it away from the sender
/// (Reference/IOSClient.md#6). The rules are written here anew: who judges the engine does not use its words.
struct AttachmentShelf: Sendable {
    private static let limits: [String: Int64] = [
        "png": 10 << 20, "jpg": 10 << 20, "jpeg": 10 << 20, "gif": 10 << 20, "aiff": 5 << 20, "aif": 5 << 20, "wav": 5 << 20,
        "mp3": 5 << 20, "m4a": 5 << 20, "mpg": 50 << 20, "mpeg": 50 << 20, "mp4": 50 << 20, "avi": 50 << 20,
    ]

    let folder: URL

    /// Uses a folder.
    init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The file that was taken in under this name; `nil` when there is none, and for every name that this shelf gives to nothing.
    func file(named name: String) -> URL? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, UUID(uuidString: String(parts[0])) != nil, Self.limits[parts[1].lowercased()] != nil else {
            return nil
        }
        let file = folder.appendingPathComponent(name)
        return Self.size(of: file) == nil ? nil : file
    }

    /// Removes what belongs to no notification: a phone that died left it.
    func removeAll(but files: [URL]) {
        let kept = Set(files.map(\.lastPathComponent))
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] where !kept.contains(name) {
            remove(folder.appendingPathComponent(name))
        }
    }

    /// Takes a file; `nil` when the system would not show it, and then the file stays where it is.
    func take(_ attachment: NoticeAttachment) -> URL? {
        guard attachment.file.isFileURL, let limit = Self.limits[attachment.file.pathExtension.lowercased()],
            let size = Self.size(of: attachment.file), size > 0, size <= limit
        else { return nil }
        let place = folder.appendingPathComponent(UUID().uuidString).appendingPathExtension(attachment.file.pathExtension)
        guard (try? FileManager.default.moveItem(at: attachment.file, to: place)) != nil else { return nil }
        return place
    }

    private static func size(of file: URL) -> Int64? {
        var status = stat()
        guard lstat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    func remove(_ file: URL?) {
        guard let file else { return }
        try? FileManager.default.removeItem(at: file)
    }
}
