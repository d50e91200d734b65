import ClarionTesting
import Crypto
import RichPushModel
import Testing
import WireText

@testable import AuditTrail

@Suite struct AuditVerifierTests {
    private static let key = try! AuditSigningKey(seed: Array(repeating: 7, count: 32))
    private static let other = try! AuditSigningKey(seed: Array(repeating: 8, count: 32))

    /// A chain of entries after an anchor.
    private static func chain(_ count: Int, after anchor: AuditHead = .empty) -> [SealedAuditEntry] {
        var head = anchor
        return (1...count).map { index in
            let entry = AuditEntry(
                .userChanged, by: .user("ann"), from: "192.0.2.0/24", at: Timestamp(seconds: Int64(index)),
                subject: "bob", object: "\(index)", details: "role=sender")
            head = head.appending(entry)
            return SealedAuditEntry(number: head.size, entry: entry, hash: head.hash)
        }
    }

    /// Entries with the one that says that what is up to `anchor` was pruned.
    private static func pruned(
        _ entries: [SealedAuditEntry], to anchor: AuditHead, signedBy key: AuditSigningKey = key
    ) throws -> [SealedAuditEntry] {
        let last = try #require(entries.last)
        let act = AuditEntry(.auditPruned, by: .server, at: Timestamp(seconds: 99))
        let entry = try act.pruned(to: anchor, entries: anchor.size, signedBy: key)
        let head = AuditHead(size: last.number, hash: last.hash).appending(entry)
        return entries + [SealedAuditEntry(number: head.size, entry: entry, hash: head.hash)]
    }

    private static func checkpoint(
        _ entries: [SealedAuditEntry], at size: Int64, with key: AuditSigningKey = key
    ) throws -> AuditCheckpoint {
        let last = try #require(entries.first { $0.number == size })
        return try AuditCheckpoint(AuditHead(size: size, hash: last.hash), with: key)
    }

    private static func problems(
        of entries: [SealedAuditEntry], anchor: AuditHead = .empty, checkpoints: [AuditCheckpoint] = []
    ) -> [AuditProblem] {
        var verifier = AuditVerifier(anchor: anchor, checkpoints: checkpoints, key: key.publicKey)
        for entry in entries { verifier.read(entry) }
        return verifier.finish()
    }

    /// Hashes as who has the database could write them.
    private static func rehashed(_ entries: [SealedAuditEntry]) -> [SealedAuditEntry] {
        var head = AuditHead.empty
        return entries.map { sealed in
            head = head.appending(sealed.entry)
            return SealedAuditEntry(number: head.size, entry: sealed.entry, hash: head.hash)
        }
    }

    @Test("an intact audit has no problem")
    func untouched() throws {
        let entries = Self.chain(20)
        #expect(
            Self.problems(of: entries, checkpoints: [try Self.checkpoint(entries, at: 10), try Self.checkpoint(entries, at: 20)])
                == [])
        #expect(Self.problems(of: []) == [])
    }

    @Test("a changed field of an entry is found", arguments: 0..<5)
    func changedField(_ field: Int) {
        var entries = Self.chain(5)
        switch field {
        case 0: entries[2].entry.at = Timestamp(seconds: 1_000)
        case 1: entries[2].entry.action = .userRemoved
        case 2: entries[2].entry.actorKind = "key"
        case 3: entries[2].entry.object = "9"
        default: entries[2].entry.id = "x"
        }
        #expect(Self.problems(of: entries) == [.changed(3)])
    }

    @Test("a replaced text is found, an erased one is no problem")
    func texts() {
        var entries = Self.chain(5)
        let text = entries[1].entry.subject
        entries[1].entry.subject = AuditText(
            content: .init(text: "eve", salt: text.content?.salt ?? []), commitment: text.commitment)
        #expect(Self.problems(of: entries) == [.textReplaced(2)])
        entries[1].entry.subject = AuditText(content: nil, commitment: text.commitment)
        #expect(Self.problems(of: entries) == [])
    }

    @Test("a text that is replaced with its commitment is found")
    func textWithCommitment() {
        var entries = Self.chain(5)
        entries[1].entry.subject = AuditText("eve")
        #expect(Self.problems(of: entries) == [.changed(2)])
    }

    @Test("removed entries are found, one gap being one problem")
    func removed() {
        var entries = Self.chain(10)
        entries.removeSubrange(3...5)
        #expect(Self.problems(of: entries) == [.missing(4...6)])
    }

    @Test("an inserted entry is found")
    func inserted() {
        var entries = Self.chain(4)
        entries.insert(entries[1], at: 2)
        #expect(Self.problems(of: entries) == [.changed(2)])
    }

    @Test("an audit that was rewritten as a whole contradicts a checkpoint")
    func rewritten() throws {
        let entries = Self.chain(6)
        let checkpoint = try Self.checkpoint(entries, at: 4)
        var others = entries
        others[1].entry.object = "9"
        #expect(Self.problems(of: Self.rehashed(others), checkpoints: [checkpoint]) == [.contradictedCheckpoint(size: 4)])
    }

    @Test("an entry that was removed and its numbers closed up contradicts a checkpoint")
    func closedUp() throws {
        let entries = Self.chain(6)
        var others = entries
        others.remove(at: 2)
        let checkpoints = [try Self.checkpoint(entries, at: 6)]
        #expect(Self.problems(of: Self.rehashed(others), checkpoints: checkpoints) == [.cutOff(counted: 6, found: 5)])
    }

    @Test("a cut end is found by the checkpoint that was signed over it")
    func cutOff() throws {
        let entries = Self.chain(8)
        let checkpoint = try Self.checkpoint(entries, at: 8)
        #expect(Self.problems(of: Array(entries.prefix(5)), checkpoints: [checkpoint]) == [.cutOff(counted: 8, found: 5)])
    }

    @Test("a checkpoint of another key is found, and so is one whose size was changed")
    func forged() throws {
        let entries = Self.chain(4)
        let forged = try Self.checkpoint(entries, at: 4, with: Self.other)
        #expect(Self.problems(of: entries, checkpoints: [forged]) == [.forgedCheckpoint(size: 4)])
        let real = try Self.checkpoint(entries, at: 4)
        let changed = try #require(AuditCheckpoint(note: real.note.replacing("\n4\n", with: "\n3\n")))
        #expect(Self.problems(of: entries, checkpoints: [changed]) == [.forgedCheckpoint(size: 3)])
    }

    @Test("a pruned audit verifies from its anchor")
    func pruned() throws {
        let entries = Self.chain(10)
        let anchor = try Self.checkpoint(entries, at: 6)
        let rest = try Self.pruned(Array(entries.dropFirst(6)), to: anchor.head)
        #expect(Self.problems(of: rest, anchor: anchor.head, checkpoints: [anchor, try Self.checkpoint(entries, at: 10)]) == [])
        #expect(Self.problems(of: Array(rest.dropFirst()), anchor: anchor.head, checkpoints: [anchor]) == [.missing(7...7)])
        let other = AuditHead(size: 6, hash: Array(repeating: 1, count: 32))
        let found = Self.problems(of: [], anchor: other, checkpoints: [anchor])
        #expect(found == [.contradictedCheckpoint(size: 6), .unrecordedPruning(size: 6)])
    }

    @Test("a beginning that was cut off at a signed checkpoint is found, since no entry says that it was pruned")
    func cutAtCheckpoint() throws {
        let entries = Self.chain(10)
        let (first, second) = (try Self.checkpoint(entries, at: 3), try Self.checkpoint(entries, at: 6))
        let rest = Array(entries.dropFirst(6))
        let problem = AuditProblem.unrecordedPruning(size: 6)
        #expect(Self.problems(of: rest, anchor: second.head, checkpoints: [second]) == [problem])
        #expect(Self.problems(of: try Self.pruned(rest, to: first.head), anchor: second.head, checkpoints: [second]) == [problem])
    }

    @Test("a pruning that the key of the audit did not sign, or signed for another anchor, is none")
    func unsignedPruning() throws {
        let entries = Self.chain(10)
        let (first, second) = (try Self.checkpoint(entries, at: 3), try Self.checkpoint(entries, at: 6))
        let rest = Array(entries.dropFirst(6))
        let last = try #require(rest.last)
        let copied = try #require(
            try Self.pruned(rest, to: first.head).last?.entry.details.content?.text.split(separator: " ").last)
        for signature in ["", " signature=", " \(copied)"] {
            let forged = AuditEntry(
                .auditPruned, by: .server, at: Timestamp(seconds: 99), object: "6",
                details: "entries=6 hash=\(Hexadecimal.text(of: second.head.hash))\(signature)")
            let head = AuditHead(size: last.number, hash: last.hash).appending(forged)
            let all = rest + [SealedAuditEntry(number: head.size, entry: forged, hash: head.hash)]
            #expect(Self.problems(of: all, anchor: second.head, checkpoints: [second]) == [.unrecordedPruning(size: 6)])
        }
        let other = try Self.pruned(rest, to: second.head, signedBy: Self.other)
        #expect(Self.problems(of: other, anchor: second.head, checkpoints: [second]) == [.unrecordedPruning(size: 6)])
    }

    @Test("checkpoints of what was pruned and erased texts are counted")
    func counts() throws {
        let entries = Self.chain(10)
        let anchor = try Self.checkpoint(entries, at: 6)
        let old = [try Self.checkpoint(entries, at: 3), try Self.checkpoint(entries, at: 5)]
        var verifier = AuditVerifier(anchor: anchor.head, checkpoints: old + [anchor], key: Self.key.publicKey)
        for var sealed in try Self.pruned(Array(entries.dropFirst(6)), to: anchor.head) {
            if sealed.number > 8 { sealed.entry.actor = AuditText(content: nil, commitment: sealed.entry.actor.commitment) }
            verifier.read(sealed)
        }
        #expect(verifier.finish() == [])
        #expect(verifier.prunedCheckpoints == 2)
        #expect(verifier.erasedEntries == 3)
    }

    @Test("a beginning that was cut off where nothing was signed is found")
    func cutBeginning() throws {
        let entries = Self.chain(10)
        let cut = AuditHead(size: 5, hash: entries[4].hash)
        let rest = Array(entries.dropFirst(5))
        #expect(
            Self.problems(of: try Self.pruned(rest, to: cut), anchor: cut, checkpoints: [try Self.checkpoint(entries, at: 8)])
                == [.unsignedAnchor(size: 5)])
        #expect(Self.problems(of: rest, anchor: cut) == [.unsignedAnchor(size: 5), .unrecordedPruning(size: 5)])
    }

    @Test("the note of a checkpoint reads back, and another text is none")
    func note() throws {
        let checkpoint = try Self.checkpoint(Self.chain(3), at: 3)
        #expect(AuditCheckpoint(note: checkpoint.note) == checkpoint)
        for text in ["", "clarion.audit/1\n", checkpoint.note + "x", checkpoint.note.replacing("clarion", with: "other")] {
            #expect(AuditCheckpoint(note: text) == nil, "\(text)")
        }
    }

    @Test("a text keeps no control characters, and its salt makes each commitment its own")
    func text() {
        #expect(AuditText("a\nb\u{7F}c").content?.text == "a?b?c")
        #expect(AuditText("ann").commitment != AuditText("ann").commitment)
    }

    @Test(
        "a text shows nothing that moves a cursor, hides or turns around, and has a bounded number of bytes",
        arguments: ["\u{9B}2J", "a\u{202E}b", "a\u{2028}b", "\u{FEFF}a", "a\u{200B}b", "\u{1B}[31m"])
    func shownTexts(text: String) throws {
        let shown = try #require(AuditText(text).content?.text)
        #expect(shown.contains("?"))
        #expect(shown.unicodeScalars.count == text.unicodeScalars.count)
        #expect(AuditText("e" + String(repeating: "\u{301}", count: 9_000)).content?.text.utf8.count ?? 0 < 5_000)
    }

    @Test("any single change of a random audit is found")
    func randomChanges() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<200 {
            let entries = Self.chain(Int.random(in: 2...12, using: &generator))
            let checkpoints = [try Self.checkpoint(entries, at: Int64(entries.count))]
            var changed = entries
            let index = Int.random(in: entries.indices, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: changed.remove(at: index)
            case 1: changed.insert(changed[index], at: Int.random(in: entries.indices, using: &generator))
            case 2: changed[index].hash[Int.random(in: 0..<32, using: &generator)] ^= 1
            default: changed[index].entry.object += "0"
            }
            #expect(!Self.problems(of: changed, checkpoints: checkpoints).isEmpty, "seed \(seed), round \(round)")
        }
    }
}
