import RichPushDevice
import RichPushModel

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

/// The notification centre, newest first: a later notification with the same identifier replaces the earlier one.
struct NoticeList: Hashable, Sendable {
    /// More than a user scrolls through; the oldest goes.
    static let limit = 100

    struct Entry: Hashable, Sendable {
        var notice: PhoneSnapshot.Notice
        var category: String?
        /// What the push, or the app, said that it carries.
        var kind: ContentKind?
        /// The system's own copy of the attachment.
        var file: URL?
    }

    private(set) var entries: [Entry]

    /// Creates a list; the newest of `entries` comes first.
    init(_ entries: [Entry] = []) { self.entries = Array(entries.prefix(Self.limit)) }

    subscript(id: String) -> Entry? { entries.first { $0.notice.id == id } }

    /// Adds an entry and returns those that had to go for it.
    mutating func add(_ entry: Entry) -> [Entry] {
        var gone = entries.filter { $0.notice.id == entry.notice.id }
        entries.removeAll { $0.notice.id == entry.notice.id }
        entries.insert(entry, at: 0)
        while entries.count > Self.limit { gone.append(entries.removeLast()) }
        return gone
    }

    /// Removes entries and returns them.
    mutating func remove(_ ids: Set<String>) -> [Entry] {
        let gone = entries.filter { ids.contains($0.notice.id) }
        entries.removeAll { ids.contains($0.notice.id) }
        return gone
    }

    mutating func removeAll() -> [Entry] {
        defer { entries = [] }
        return entries
    }
}

extension NoticeList.Entry {
    /// What is shown of a content; the shelf takes its attachment.
    init(
        _ content: NotificationContent, id: String, richID: RichID?, kind: ContentKind?, at now: Timestamp,
        on shelf: AttachmentShelf
    ) {
        notice = PhoneSnapshot.Notice(
            id: id, richID: richID, title: content.title, subtitle: content.subtitle.isEmpty ? nil : content.subtitle,
            body: content.body, thread: content.thread, at: now)
        (category, self.kind, file) = (content.category, kind, content.attachment.flatMap(shelf.take))
        if let attachment = content.attachment, file != nil {
            notice.hasAttachment = true
            notice.mediaType = attachment.mediaType
            notice.altText = attachment.altText
        }
    }
}

/// The notification centre on the phone's disk: what was delivered is still there after the phone was switched off, or died.
struct NoticeFile: Sendable {
    private struct Kept: Codable {
        var notice: PhoneSnapshot.Notice
        var category: String?
        var kind: ContentKind?
        /// The name of the attachment in the shelf.
        var file: String?
    }

    let file: URL
    let shelf: AttachmentShelf

    /// What was kept, newest first. A file that is missing or broken is an empty notification centre, and an attachment that is no
    /// longer there is none.
    func read() -> NoticeList {
        guard let data = try? Data(contentsOf: file), let kept = try? JSONDecoder().decode([Kept].self, from: data) else {
            return NoticeList()
        }
        return NoticeList(kept.map(entry))
    }

    private func entry(_ kept: Kept) -> NoticeList.Entry {
        var notice = kept.notice
        // What goes later takes its file along, so a name that the shelf does not give must lead nowhere.
        let file = kept.file.flatMap(shelf.file)
        if file == nil {
            notice.hasAttachment = false
            notice.mediaType = nil
            notice.altText = nil
        }
        return NoticeList.Entry(notice: notice, category: kept.category, kind: kept.kind, file: file)
    }

    /// An empty notification centre leaves nothing. The others are for their owner's eyes, and whole: a phone that dies in the middle
    /// has the one before.
    func write(_ list: NoticeList) {
        let draft = file.appendingPathExtension("new")
        try? FileManager.default.removeItem(at: draft)
        guard !list.entries.isEmpty else {
            try? FileManager.default.removeItem(at: file)
            return
        }
        let kept = list.entries.map {
            Kept(notice: $0.notice, category: $0.category, kind: $0.kind, file: $0.file?.lastPathComponent)
        }
        guard let data = try? JSONEncoder().encode(kept), (try? NewFile.write(data, to: draft)) != nil else { return }
        rename(draft.path, file.path)
    }
}

/// Where the system keeps the files of shown notifications. It takes only what it can show, and moves it away from the sender
/// (Reference/IOSClient.md#6). The rules are written here again, so that the engine is not tested against its own code.
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
    func take(_ attachment: NotificationAttachment) -> URL? {
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
