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
    struct Claim: Codable {
        var token: String
        var expiry: Timestamp
    }

    /// How many files of claims may lie about before those that ended long ago are swept. Claims are given back after seconds.
    private static var sweepCount: Int { 32 }
    /// No claim is meant to last this long: one that still would is of a clock that was set back.
    private static var longestClaim: Duration { .seconds(3600) }
    /// How many processes in a row may have ended in the middle of the same take-over.
    private static var turnLimit: Int { 8 }

    public func claim(_ key: RecordKey, until expiry: Timestamp, now: Timestamp) throws(StorageError) -> HeldClaim? {
        let file = file(key)
        let folder = file.deletingLastPathComponent()
        let claim = Claim(token: UUID().uuidString, expiry: expiry)
        guard let data = try? JSONEncoder().encode(claim) else { throw .failed }
        sweep(folder, now: now)
        let draft = folder.appendingPathComponent("draft-" + claim.token)
        try FileAccess.write(data, to: draft, whileExists: self.folder(key.session))
        defer { try? FileAccess.remove(draft) }
        let held = HeldClaim(key, token: claim.token)
        if link(draft, to: file) { return held }
        guard let old = try read(file), isOver(old, now: now) else { return nil }
        return try takeOver(old, file: file, draft: draft, now: now) ? held : nil
    }

    private func takeOver(_ old: Claim, file: URL, draft: URL, now: Timestamp) throws(StorageError) -> Bool {
        let turns = try takeTurn(after: old, in: file.deletingLastPathComponent(), draft: draft, now: now)
        guard !turns.isEmpty else { return false }
        defer { for turn in turns { try? FileAccess.remove(turn) } }
        guard try read(file)?.token == old.token else { return false }
        guard let data = try FileAccess.read(draft) else { return false }
        try FileAccess.write(data, to: file, whileExists: file.deletingLastPathComponent())
        return true
    }

    /// Takes the name that stands for the end of a claim; nothing when another has it. Whoever has it is written in it, with an
    /// expiry: when that is over, its process ended in the middle, and the name that stands for *its* end is up for taking.
    /// Returns all names on that way, to be removed together afterwards.
    private func takeTurn(after old: Claim, in folder: URL, draft: URL, now: Timestamp) throws(StorageError) -> [URL] {
        var turns: [URL] = []
        var last = old
        for _ in 0..<Self.turnLimit {
            let turn = folder.appendingPathComponent("turn-" + DigestText.digest(last.token))
            turns.append(turn)
            if link(draft, to: turn) { return turns }
            guard let holder = try read(turn), isOver(holder, now: now) else { return [] }
            last = holder
        }
        return []
    }

    private func isOver(_ claim: Claim, now: Timestamp) -> Bool {
        claim.expiry <= now || claim.expiry - now > Self.longestClaim
    }

    /// Removes what processes left behind that were ended in the middle of their work, an hour after it could have mattered.
    private func sweep(_ folder: URL, now: Timestamp) {
        let files = FileAccess.files(in: folder)
        guard files.count > Self.sweepCount else { return }
        for file in files {
            guard let claim = try? read(file), now - claim.expiry > Self.longestClaim else { continue }
            try? FileAccess.remove(file)
        }
    }

    /// A process that was suspended beyond its expiry must not take away what another holds by then.
    public func release(_ claim: HeldClaim) throws(StorageError) {
        let file = file(claim.key)
        guard try read(file)?.token == claim.token else { return }
        try FileAccess.remove(file)
    }

    /// Whether the name was free.
    private func link(_ source: URL, to name: URL) -> Bool {
        (try? FileManager.default.linkItem(at: source, to: name)) != nil
    }

    private func read(_ file: URL) throws(StorageError) -> Claim? {
        try FileAccess.read(file).flatMap { try? JSONDecoder().decode(Claim.self, from: $0) }
    }
}
