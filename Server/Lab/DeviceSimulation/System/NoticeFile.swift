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
