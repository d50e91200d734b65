import AuditTrail
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@testable import AppBackend

@Suite("The audit of refused access")
struct RefusedAccessTests {
    private func refused(_ bench: AuditBench, _ text: String, from address: String = "10.1.2.3") async -> ServiceErrorCode? {
        await code { _ = try await bench.backend.authenticate(.bearer(text), from: SourceAddress(address)) }
    }

    @Test("a refused key leaves one entry with its name, the reason and the network")
    func keys() async throws {
        let bench = try await AuditBench()
        let bound = try #require(try await bench.test.key("bound", "send") { $0.networks = ["192.0.2.0/24"] }.key)
        let ended = try #require(
            try await bench.test.key("ended", "send") { $0.expiresAt = bench.test.clock.now + .seconds(1) }.key)
        let shop = try #require(bench.key.key)
        try await bench.backend.revokeKey(bench.key.id)
        bench.test.clock.advance(by: .seconds(2))
        #expect(await refused(bench, bound) == .forbidden)
        #expect(await refused(bench, ended) == .unauthenticated)
        #expect(await refused(bench, shop) == .unauthenticated)
        #expect(await refused(bench, PrefixedSecret(.serviceKey).text) == .unauthenticated)
        #expect(await refused(bench, String(shop.dropLast()) + (shop.hasSuffix("0") ? "1" : "0")) == .unauthenticated)
        let entries = try await bench.entries().filter { $0.action == "access.refused" }
        // Entries of the same millisecond have no order.
        #expect(
            entries.map { "\($0.subject ?? "-") \($0.details ?? "-")" }.sorted() == [
                "- reason=malformed", "- reason=unknown-key", "bound reason=network", "ended reason=expired",
                "shop reason=revoked",
            ])
        #expect(entries.allSatisfy { $0.actorKind == "unknown" && $0.actor == " 10.1.2.0/24" })
    }

    @Test("a key with a typing error is answered as a key, and not as the credential of an installation")
    func mistypedKey() async throws {
        let bench = try await AuditBench()
        let error = await refusal { _ = try await bench.backend.authenticate(.bearer("clk_x"), from: TestBackend.source) }
        #expect(error?.detail == "the service key is not valid: its digits or its checksum are wrong")
    }

    @Test("a refused installation credential, and a text that is no credential, leave one entry each")
    func credentials() async throws {
        let bench = try await AuditBench()
        #expect(await refused(bench, bench.phone.credential + "0") == .unauthenticated)
        #expect(await refused(bench, "x") == .unauthenticated)
        let entries = try await bench.entries()
        #expect(entries.map(\.action) == ["access.refused", "access.refused"])
        #expect(entries.map(\.details) == ["reason=credential", "reason=credential"])
    }

    @Test("a caller who may not do something is named, with what they asked for")
    func operation() async throws {
        let bench = try await AuditBench()
        await bench.backend.noteRefusal(of: .changeUsers, to: bench.phone.principal)
        let entry = try #require(try await bench.entries().first)
        #expect(entry.action == "access.refused")
        #expect(entry.actorKind == "installation")
        #expect(entry.actor == "ann 192.0.2.0/24")
        #expect(entry.details == "reason=forbidden operation=change-users")
    }

    @Test("a flood of one network leaves room for another, and the next entry says how many are missing")
    func flood() async throws {
        let bench = try await AuditBench()
        for _ in 0..<100 { #expect(await refused(bench, "x") == .unauthenticated) }
        #expect(try await bench.entries().count == RefusalAudit.perCaller)
        #expect(await refused(bench, "x", from: "198.51.100.7") == .unauthenticated)
        let last = try #require(try await bench.entries().first { $0.actor == " 198.51.100.0/24" })
        #expect(last.details == "reason=credential unrecorded=\(100 - RefusalAudit.perCaller)")
        bench.test.clock.advance(by: .seconds(60))
        #expect(await refused(bench, "x") == .unauthenticated)
        #expect(try await bench.entries().filter { $0.details == "reason=credential" }.count == RefusalAudit.perCaller + 1)
    }

    @Test("a flood of many networks leaves no more entries a minute than the limit of all")
    func manyNetworks() async throws {
        let bench = try await AuditBench()
        for number in 0..<200 { #expect(await refused(bench, "x", from: "10.0.\(number).1") == .unauthenticated) }
        #expect(try await bench.entries().count == RefusalAudit.inAll)
    }

    @Test("floods of unknown callers keep out neither who may not do something nor a key that was revoked")
    func knownCallers() async throws {
        let bench = try await AuditBench()
        let shop = try #require(bench.key.key)
        try await bench.backend.revokeKey(bench.key.id)
        for number in 0..<200 { #expect(await refused(bench, "x", from: "10.0.\(number).1") == .unauthenticated) }
        #expect(await refused(bench, shop, from: "10.0.0.1") == .unauthenticated)
        await bench.backend.noteRefusal(of: .changeUsers, to: bench.phone.principal)
        let details = try await bench.entries().compactMap(\.details)
        #expect(details.contains("reason=revoked"))
        #expect(details.contains("reason=forbidden operation=change-users"))
    }

    @Test("the refusals of one known caller leave room for those of another, and are counted for themselves")
    func floodOfOneCaller() async throws {
        let bench = try await AuditBench()
        for _ in 0..<50 { await bench.backend.noteRefusal(of: .changeUsers, to: bench.phone.principal) }
        #expect(try await bench.entries().count == RefusalAudit.perCaller)
        #expect(await refused(bench, "x") == .unauthenticated)
        await bench.backend.noteRefusal(of: .readAudit, to: bench.root)
        let details = try await bench.entries().compactMap(\.details)
        #expect(details.contains("reason=credential"))
        #expect(details.contains("reason=forbidden operation=read-the-audit unrecorded=\(50 - RefusalAudit.perCaller)"))
    }

    @Test("a key of a hub that may not manage hubs is named with its hub, and one such key leaves room for others")
    func hubKeys() async throws {
        let bench = try await AuditBench()
        func refuse(_ hub: String, keyOf keyHub: String?) async {
            await bench.backend.noteHubRefusal(
                of: "deleteHub", on: hub, toRule: "app", ofHub: keyHub, from: TestBackend.source)
        }
        for number in 0..<50 { await refuse("hub-\(number)", keyOf: "news") }
        await refuse("news", keyOf: nil)
        let entries = try await bench.entries()
        #expect(entries.count == RefusalAudit.perCaller + 1)
        #expect(entries.allSatisfy { $0.actorKind == "hub-key" && $0.actor == "app 192.0.2.0/24" })
        #expect(entries.contains { $0.details == "reason=forbidden operation=deleteHub hub=hub-0 key-of=news" })
        #expect(entries.contains { $0.details == "reason=forbidden operation=deleteHub hub=news unrecorded=30" })
    }

    @Test("a reading of the audit leaves one entry, and a name that was asked for goes with the person")
    func readings() async throws {
        let bench = try await AuditBench()
        var filter = AuditFilter()
        (filter.action, filter.actor) = (.signedIn, "ann")
        try await bench.backend.noteAuditReading(filter, limit: 50, by: bench.root)
        let entry = try #require(try await bench.entries().first)
        #expect(entry.action == "audit.read")
        #expect(entry.actor == "root 192.0.2.0/24")
        #expect(entry.subject == "ann")
        #expect(entry.details == "limit=50 action=sign-in.accepted by=actor")
        try await bench.backend.eraseUser(name: "ann", by: bench.root)
        #expect(try await !bench.columns().lowercased().contains("ann"))
    }
}
