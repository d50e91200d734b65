import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A claim is a file that a process links into place whole, so that no one sees half of one. An expired claim is taken over by
/// whoever links the name that stands for *that* claim; having won, it looks again, because another may have finished a
/// take-over in between.
extension FileSharedStore {
    private struct Claim: Codable {
        var token: String
        var expiry: Timestamp
    }

    public func claim(_ key: RecordKey, until expiry: Timestamp, now: Timestamp) throws(StorageError) -> Bool {
        let file = file(key)
        let claim = Claim(token: UUID().uuidString, expiry: expiry)
        guard let data = try? JSONEncoder().encode(claim) else { throw .failed }
        let draft = file.deletingLastPathComponent().appendingPathComponent("draft-" + claim.token)
        try FileAccess.write(data, to: draft, whileExists: folder(key.session))
        defer { try? FileAccess.remove(draft) }
        if link(draft, to: file) { return true }
        guard let old = try read(file), old.expiry <= now else { return false }
        return try takeOver(old, file: file, draft: draft)
    }

    private func takeOver(_ old: Claim, file: URL, draft: URL) throws(StorageError) -> Bool {
        let turn = file.deletingLastPathComponent().appendingPathComponent("turn-" + Hexadecimal.digest(old.token))
        guard link(draft, to: turn) else { return false }
        defer { try? FileAccess.remove(turn) }
        guard try read(file)?.token == old.token else { return false }
        guard let data = try FileAccess.read(draft) else { return false }
        try FileAccess.write(data, to: file, whileExists: file.deletingLastPathComponent())
        return true
    }

    public func releaseClaim(_ key: RecordKey) throws(StorageError) { try FileAccess.remove(file(key)) }

    /// Whether the name was free.
    private func link(_ source: URL, to name: URL) -> Bool {
        (try? FileManager.default.linkItem(at: source, to: name)) != nil
    }

    private func read(_ file: URL) throws(StorageError) -> Claim? {
        try FileAccess.read(file).flatMap { try? JSONDecoder().decode(Claim.self, from: $0) }
    }
}
