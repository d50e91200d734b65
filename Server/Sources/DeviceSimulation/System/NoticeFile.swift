import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
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
    let shelf: URL

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
        // A name is one of the shelf's own; anything else does not come from there.
        let place = kept.file.flatMap { $0.contains("/") ? nil : shelf.appendingPathComponent($0) }
        let file = place.flatMap { FileManager.default.fileExists(atPath: $0.path) ? $0 : nil }
        if file == nil {
            notice.hasAttachment = false
            notice.mediaType = nil
            notice.altText = nil
        }
        return NoticeList.Entry(notice: notice, category: kept.category, kind: kept.kind, file: file)
    }

    /// An empty notification centre leaves nothing.
    func write(_ list: NoticeList) {
        guard !list.entries.isEmpty else {
            try? FileManager.default.removeItem(at: file)
            return
        }
        let kept = list.entries.map {
            Kept(notice: $0.notice, category: $0.category, kind: $0.kind, file: $0.file?.lastPathComponent)
        }
        try? JSONEncoder().encode(kept).write(to: file, options: .atomic)
    }
}
