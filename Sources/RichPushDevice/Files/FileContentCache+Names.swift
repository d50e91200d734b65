import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A cached file is named by a digest, so that nothing from the network is a path. Players and other apps want a name.
extension FileContentCache {
    public func handedOut(
        _ content: CachedContent, named name: String?, of session: SessionID
    ) throws(StorageError) -> CachedContent {
        let place = folder(session).appendingPathComponent(content.file.lastPathComponent)
        let named = place.appendingPathComponent(DisplayFileName.cleaned(name, mediaType: content.mediaType))
        guard !FileAccess.exists(named) else { return content.at(named) }
        do {
            // Not with its parents: after a sign-out there is no folder of the session, and none shall come back.
            if !FileAccess.exists(place) {
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            }
            // A hard link costs no room and keeps the protection of the file.
            try FileManager.default.linkItem(at: content.file, to: named)
        } catch {
            throw FileAccess.exists(folder(session)) ? .failed : .sessionEnded
        }
        return content.at(named)
    }

    /// The link holds the bytes, so it goes before the cached file does.
    func removeName(of place: URL) throws(StorageError) {
        let session = place.deletingLastPathComponent().deletingLastPathComponent()
        try FileAccess.remove(session.appendingPathComponent(place.lastPathComponent))
    }
}

extension CachedContent {
    fileprivate func at(_ file: URL) -> CachedContent { CachedContent(file: file, mediaType: mediaType, byteCount: byteCount) }
}
