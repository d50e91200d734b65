import AppBackend
import NIOConcurrencyHelpers
import RichPushModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The files of a store: where they lie, how they come and go. Its calls block.
final class ContentDirectory: Sendable {
    private let root: String
    /// Orders arrivals and removals within this process: without it, bytes that arrive again at the moment of their removal
    /// would be gone although they were just stored.
    private let turn = NIOLock()

    init(root: String) { self.root = root }

    /// The file of a content.
    func object(_ digest: ContentDigest) -> String { "\(shelf(of: digest))/\(digest.text)" }

    /// A new name for an upload under way: a counter would do, but random names need no memory.
    func incoming() -> String {
        "\(root)/incoming/\(String(UInt64.random(in: .min ... .max), radix: 16))-\(String(UInt64.random(in: .min ... .max), radix: 16))"
    }

    /// Makes the directories and, if told so, removes uploads that were cut off.
    func prepare(removingLeftovers: Bool) throws {
        for path in ["", "/objects", "/incoming"] { try DurableFolder.make(root + path) }
        // A process that was ended between making a folder and keeping its name has left it to the next start.
        for path in [DurableFolder.parent(of: root), root, root + "/objects"] { try DurableFolder.keepEntries(of: path) }
        if removingLeftovers { try clearIncoming() }
    }

    /// Moves a complete file to its place, over an equal one if there is one, so that its age counts from now. Durable on return.
    func arrive(_ path: String, as digest: ContentDigest) throws {
        try turn.withLock {
            try DurableFolder.make(shelf(of: digest))
            guard rename(path, object(digest)) == 0 else { throw FileFault.last("rename") }
        }
        try DurableFolder.keepEntries(of: shelf(of: digest))
    }

    /// Removes a content that was stored before the moment; whether it is gone.
    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) throws -> Bool {
        try turn.withLock {
            var information = stat()
            guard stat(object(digest), &information) == 0 else {
                guard errno == ENOENT else { throw FileFault.last("stat") }
                return true
            }
            guard FileAge.written(information) < moment else { return false }
            guard unlink(object(digest)) == 0 || errno == ENOENT else { throw FileFault.last("unlink") }
            return true
        }
    }

    /// The contents that are stored, in order after `digest`, at most `limit`. Reads one shelf after the other, from the one of
    /// `digest` on. A file of another name is none of ours and is passed over.
    func digests(after digest: ContentDigest?, limit: Int) throws -> [ContentDigest] {
        let begin = digest?.text ?? ""
        var found: [ContentDigest] = []
        for shelf in try DurableFolder.names(in: "\(root)/objects").sorted() where shelf.count == 2 && shelf >= begin.prefix(2) {
            let stored = try DurableFolder.names(in: "\(root)/objects/\(shelf)").filter { $0 > begin && $0.hasPrefix(shelf) }
                .sorted()
            found += stored.compactMap { ContentDigest($0) }.prefix(limit - found.count)
            if found.count == limit { return found }
        }
        return found
    }

    /// Proves that an upload could be written now. Throws what keeps it from that.
    func tryWrite() throws { try DurableFolder.tryWrite(in: "\(root)/incoming") }

    /// Removes an upload that is not wanted.
    func discard(_ path: String) { _ = unlink(path) }

    private func shelf(of digest: ContentDigest) -> String { "\(root)/objects/\(digest.text.prefix(2))" }

    private func clearIncoming() throws {
        for name in try DurableFolder.names(in: "\(root)/incoming") { discard("\(root)/incoming/\(name)") }
    }
}
