import AppBackend
import RichPushModel
import ServiceErrors
import Testing

@Suite struct ReceiptTests {
    @Test("a receipt counts once for an installation, notification, kind and action")
    func idempotent() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        let (tablet, _) = try await test.install(ann, "tablet", handle: 2)
        let id = try await test.send(ann)
        let batch = ReceiptBatch(receipts: [
            Receipt(richID: id, kind: .delivered, at: test.clock.now),
            Receipt(richID: id, kind: .delivered, at: test.clock.now + .seconds(1)),
            Receipt(richID: id, kind: .action, action: "richPushMore", at: test.clock.now),
        ])
        for principal in [phone, phone, tablet] { try await test.backend.record(batch, for: principal) }
        #expect(try await test.backend.status(of: id, for: ann).receipts == ["delivered": 2, "action": 2])
    }

    @Test("no receipt can be forged: it counts for the credential's installation and for what its user may read")
    func forged() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let (bobPhone, _) = try await test.install(bob, "b", handle: 2)
        let (annPhone, _) = try await test.install(ann, "a", handle: 1)
        let id = try await test.send(ann)
        let unknown = try #require(RichID(number: 77))
        let batch = ReceiptBatch(receipts: [
            Receipt(richID: id, kind: .opened, at: test.clock.now), Receipt(richID: unknown, kind: .opened, at: test.clock.now),
        ])
        try await test.backend.record(batch, for: bobPhone)
        #expect(try await test.backend.status(of: id, for: ann).receipts == [:])
        #expect(await code { try await test.backend.record(batch, for: ann) } == .forbidden)
        try await test.backend.record(batch, for: annPhone)
        #expect(try await test.backend.status(of: id, for: ann).receipts == ["opened": 1])
    }

    @Test("opening marks the entry read")
    func opened() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        let id = try await test.send(ann)
        let receipt = { Receipt(richID: id, kind: $0, at: test.clock.now) }
        try await test.backend.record(ReceiptBatch(receipts: [receipt(.delivered), receipt(.fetched)]), for: phone)
        #expect(try await !test.backend.details(of: id, for: ann).read)
        try await test.backend.record(ReceiptBatch(receipts: [receipt(.opened)]), for: phone)
        #expect(try await test.backend.details(of: id, for: ann).read)
    }

    @Test("a malformed receipt refuses the batch and records nothing of it")
    func malformed() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        let id = try await test.send(ann)
        let good = Receipt(richID: id, kind: .opened, at: test.clock.now)
        let bad = [
            Receipt(richID: id, kind: .action, at: test.clock.now),
            Receipt(richID: id, kind: .action, action: "", at: test.clock.now),
            Receipt(richID: id, kind: .failed, action: "line\nfeed", at: test.clock.now),
            Receipt(richID: id, kind: .failed, action: String(repeating: "x", count: 65), at: test.clock.now),
            Receipt(richID: id, kind: .opened, action: "x", at: test.clock.now),
        ]
        for receipt in bad {
            let found = await code { try await test.backend.record(ReceiptBatch(receipts: [good, receipt]), for: phone) }
            #expect(found == .invalidField)
        }
        let many = ReceiptBatch(receipts: Array(repeating: good, count: 101))
        #expect(await code { try await test.backend.record(many, for: phone) } == .invalidField)
        #expect(try await test.backend.status(of: id, for: ann).receipts == [:])
    }
}
