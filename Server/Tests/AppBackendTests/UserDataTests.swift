import CalendarTime
import ClarionTesting
import Foundation
import Logging
import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import Synchronization
import Testing

@testable import AppBackend

/// What is stored about one user: the export has all of it, and the erasure removes all of it.
@Suite struct UserDataTests {
    /// Texts that identify the user wherever they are found.
    private static let traces = ["zaphod", "phone-of-z", "marvin-words", "beeb1e"]
    /// The user's number, unlike any other.
    private static let number: Int64 = 7_700_001

    /// Tables with rows about a user. Their test data is made by `fill`; after an erasure nothing of it may be left.
    private static let personal: Set<String> = [
        "users", "installation_credentials", "bindings", "user_tags", "contents", "rich_notifications", "audience_index",
        "rich_translations", "message_templates", "notification_translations", "repeat_keys", "read_marks", "receipts",
        "audit_entries", "devices",
        "device_tags", "notifications",
        "target_failures", "identities", "sign_in_tokens", "console_sessions", "service_keys", "schedules",
        "webhook_deliveries", "slices", "frequency_counts", "second_factors", "activities", "channels", "installation_tokens",
    ]

    /// Holds a digest of the name in place of it, so a search for traces finds nothing; `GuessingTests` shows that it is erased.
    private static let pseudonymous: Set<String> = ["sign_in_counts"]

    /// Tables of what came with a hub's key: it belongs to no user and goes with its own retention. Feedback on a user's devices
    /// goes with the user, which the tests of the hub's storage show.
    private static let ofHubKeys: Set<String> = [
        "device_templates", "direct_handles", "feedback", "jobs", "hub_files", "outcome_reports",
    ]

    /// Tables without: numbers, sends by id, keys that lead nowhere once the device is gone (those of changes under way go within
    /// minutes), and digests of bytes to remove.
    private static let impersonal: Set<String> = [
        "schema_steps", "hubs", "tallies", "idempotency_keys", "notification_zones", "pending_targets", "backend_counters",
        "content_orphans", "content_claims",
        "hub_rules", "nodes", "schema_fence", "content_owner", "device_changes", "write_turns", "order_numbers",
        "outcome_reasons", "group_tallies", "key_sets", "audit_heads", "audit_checkpoints", "webhooks",
        "webhook_leases",
    ]

    /// The same backend on a hub in the same database, as a node has it.
    private func onRealHub(_ test: TestBackend) async throws -> RichPushBackend {
        var parts = test.backend.parts
        let hub = try await SQLHubStore(test.database).ensureHub(named: "hub", at: test.clock.now)
        parts.hub = NotificationHub(
            id: hub,
            stores: NotificationHub.Stores(
                devices: SQLDeviceStore(test.database), intake: SQLIntakeStore(test.database),
                telemetry: SQLTelemetryStore(test.database)),
            clock: test.clock, logger: parts.logger)
        return RichPushBackend(parts: parts)
    }

    /// Writes something about the user into every table that can hold it.
    private func fill(_ test: TestBackend, _ backend: RichPushBackend) async throws {
        _ = try await test.database.write { connection in
            try connection.run(
                SQLStatement("INSERT INTO backend_counters VALUES (1, 'user', $1)"), [.integer(Self.number - 1)])
        }
        _ = try await test.store.addWebhook(
            WebhookDraft(url: "https://example.org/", events: WebhookEvent.Kind.allCases, description: ""), state: .enabled,
            salt: [1], limit: 9,
            at: test.clock.now, audit: nil)
        let zed = try await test.user("Zaphod", .sender)
        #expect(zed.userID.number == Self.number)
        let bob = try await test.user("bob")
        let token = String(repeating: "0", count: 58) + "BEEB1E"
        let phone = try #require(InstallationID("phone-of-z"))
        let answer = try await backend.putInstallation(
            id: phone, update: InstallationUpdate(handle: token, tags: ["news"].compactMap { Tag($0) }), for: zed)
        let device = try await backend.authenticate(.bearer(try #require(answer.credential)), from: TestBackend.source)
        // Another record of the handle makes a closed binding.
        try await backend.putRegistration(
            id: try await backend.newRegistration(handle: nil, for: zed).text, platform: "apns", handle: token, tags: [], for: zed
        )
        var update = InstallationUpdate(handle: token, tags: [])
        update.timeZone = "Asia/Tokyo"
        let again = try await backend.putInstallation(id: phone, update: update, for: zed)
        _ = try await backend.authenticate(.bearer(try #require(again.credential)), from: TestBackend.source)
        _ = device
        func send(_ sender: Principal, _ audience: String, _ message: String, content: [UInt8]? = nil) async throws -> RichID {
            try await self.send(
                message, to: audience, content: content, named: sender.userID == zed.userID ? "zaphod.png" : "b.png",
                key: sender.userID == zed.userID ? "marvin-words" : "other-\(message.count)", backend, for: sender)
        }
        _ = try await send(zed, "username:bob", "marvin-words for bob", content: Sample.png(byteCount: 600))
        _ = try await send(bob, "username:zaphod", "marvin-words for one alone")
        let shared = try await send(bob, "username:Zaphod || username:bob", "for two", content: Sample.png(byteCount: 700))
        _ = try await send(bob, "news && !username:zaphod", "for all others")
        _ = try await backend.storeContent(
            declaredType: nil, fileName: "zaphod.png", chunks: Chunks(Sample.png(byteCount: 800)), for: zed)
        let signedIn = try await backend.authenticate(.bearer(try #require(again.credential)), from: TestBackend.source)
        try await backend.record(
            ReceiptBatch(receipts: [Receipt(richID: shared, kind: .opened, at: test.clock.now)]), for: signedIn)
        try await backend.setRead(true, of: shared, for: zed)
        try await fillSignIns(test, backend, zed)
        try await fillSchedules(test, backend, zed, bob)
        try await fillActivities(backend, zed, bob, phone)
        _ = try await test.database.write { connection in
            try connection.run(
                SQLStatement(
                    """
                    INSERT INTO target_failures (hub_id, notification_id, slice, slice_key, platform, record_id, outcome)
                    VALUES (1, 'a-send', 0, 1, 'apns', 'phone-of-z', 'rejected')
                    """), [])
            try connection.run(
                SQLStatement("INSERT INTO second_factors VALUES (1, $1, $2, 1, 2, 3, 'aa')"),
                [.integer(Self.number), .bytes([1])])
            try connection.run(
                SQLStatement("INSERT INTO frequency_counts VALUES (1, 'news', 'username:zaphod', 'a-send', 1, 2)"), [])
        }
    }

    /// Sends with a translation if the text is to be traced.
    private func send(
        _ message: String, to audience: String, content: [UInt8]?, named name: String, key: String, _ backend: RichPushBackend,
        for sender: Principal
    ) async throws -> RichID {
        var request = SendRequest(message: message)
        request.audience = audience
        if message.hasPrefix("marvin-words") {
            request.preview = .open
            request.translations = [SendTranslation(language: "sv", message: "\(message) på svenska")]
        }
        if let content {
            request.contentID = try await backend.storeContent(
                declaredType: nil, fileName: name, chunks: Chunks(content), for: sender
            ).id
        }
        return try await backend.send(request, idempotencyKey: key, for: sender).id
    }

    /// Schedules of theirs, for them alone and for them and another.
    private func fillSchedules(
        _ test: TestBackend, _ backend: RichPushBackend, _ zed: Principal, _ bob: Principal
    ) async throws {
        for (sender, audience, text) in [
            (zed, "username:bob", "marvin-words for later"), (bob, "username:zaphod", "marvin-words for one alone, later"),
            (bob, "username:Zaphod || username:bob", "for two, later"),
        ] {
            var notification = SendRequest(message: text)
            notification.audience = audience
            _ = try await backend.schedule(ScheduleRequest(notification, at: test.clock.now + .seconds(3600)), for: sender)
        }
        // One that goes round the world: it has begun.
        var notification = SendRequest(message: "for two, by local time")
        notification.audience = "username:Zaphod || username:bob"
        var request = ScheduleRequest(notification)
        request.localTime = TimeZoneRules.utc.local(atSeconds: (test.clock.now + .seconds(3600)).seconds).description
        request.timeZone = "device"
        _ = try await backend.schedule(request, for: bob)
        try await BackendUpkeep(of: backend).work()
    }

    /// Live Activities of theirs, for them alone and for them and another, and what their phone reports of them.
    private func fillActivities(
        _ backend: RichPushBackend, _ zed: Principal, _ bob: Principal, _ phone: InstallationID
    ) async throws {
        var entries: [ActivityReport.Entry] = []
        for (sender, audience, text) in [
            (zed, "username:bob", "marvin-words on a card"), (bob, "username:zaphod", "marvin-words on a card for one"),
            (bob, "username:Zaphod || username:bob", "a card for two"),
        ] {
            var request = ActivityRequest(attributesType: "Trip", state: .object(["text": .text(text)]), audience: audience)
            request.alert = ActivityAlert(title: "Trip", body: text)
            let activity = try await backend.startActivity(request, for: sender)
            if sender.userID == bob.userID {
                entries.append(.init(id: activity.id, state: "active", token: "AC\(String(format: "%06d", activity.id))"))
            }
        }
        _ = try await backend.parts.store.addChannel(
            ChannelDraft(
                owner: zed.userID, name: "a team", apnsChannel: "dGVhbQ==", keepsLatest: true, createdAt: .init(seconds: 1)),
            audit: nil)
        _ = try await backend.reportActivities(
            ActivityReport(startTokens: ["Trip": String(repeating: "0", count: 58) + "BEEB1E"], activities: entries), of: phone,
            for: zed)
    }

    /// Tokens, a key and an identity.
    private func fillSignIns(_ test: TestBackend, _ backend: RichPushBackend, _ zed: Principal) async throws {
        _ = try await backend.mintSignInToken(SignInTokenRequest(user: "zaphod"))
        let link = try await backend.makeConsoleLink(for: "zaphod")
        _ = try await backend.beginConsoleSession(link: link.secret, from: TestBackend.source)
        _ = try await backend.mintSignInToken(SignInTokenRequest(user: "bob"), by: zed)
        _ = try await backend.createKey(ServiceKeyRequest(name: "late", scopes: ["send"]), by: zed)
        _ = try await backend.putMessageTemplate(
            "greeting", MessageTemplateRequest(SendRequest(message: "Good morning")), for: zed)
        _ = try await test.database.write { connection in
            try connection.run(
                SQLStatement(
                    """
                    INSERT INTO identities (app_id, identity_key, issuer, subject, user_id, created_at)
                    VALUES (1, 'a-digest', 'https://id.example.test', 'zaphod', $1, 1)
                    """), [.integer(Self.number)])
        }
    }

    /// The tables with something of the user in them. The order numbers are one counter, which each engine keeps in its own columns.
    private func marked(_ test: TestBackend) async throws -> Set<String> {
        var found: Set<String> = []
        for table in try await tables(test).subtracting(["order_numbers"]) {
            let all = SQLStatement(composed: "SELECT * FROM \(table)")
            let rows = try await test.database.read { try $0.rows(all, []) }
            if rows.contains(where: { $0.values.contains(where: Self.isTrace) }) { found.insert(table) }
        }
        return found
    }

    private static func isTrace(_ value: SQLValue) -> Bool {
        switch value {
        case .null: false
        case .integer(let number): number == Self.number
        case .text(let text): traces.contains { text.lowercased().contains($0) }
        case .bytes(let bytes): traces.contains { String(decoding: bytes, as: UTF8.self).lowercased().contains($0) }
        }
    }

    /// On PostgreSQL the order numbers are a sequence, which is no table.
    private func tables(_ test: TestBackend) async throws -> Set<String> {
        Set(try await test.database.tableNames()).union(["order_numbers"])
    }

    @Test("every table of the schema is known to hold data about users, or none")
    func everyTable() async throws {
        let test = try await TestBackend()
        #expect(try await tables(test) == Self.personal.union(Self.pseudonymous).union(Self.impersonal).union(Self.ofHubKeys))
        #expect(Self.personal.isDisjoint(with: Self.impersonal))
    }

    @Test("a phone that changed hands stays with who has it when the first owner is erased")
    func changedHands() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let bob = try await test.user("bob")
        _ = try await test.install(ann, "phone", handle: 1)
        _ = try await test.install(bob, "phone", handle: 1)
        let sent = try await test.send(bob, to: "$InstallationId:{phone}")
        try await test.backend.eraseUser(name: "ann")
        #expect(test.hub.devices.keys.map(\.text) == ["phone"])
        #expect(try await test.inbox(bob) == [sent])
        try await test.backend.eraseUser(name: "bob")
        #expect(test.hub.devices.isEmpty)
    }

    @Test("an erasure leaves nothing of a user in any table nor on the disk, and others keep their data")
    func erase() async throws {
        let test = try await TestBackend()
        let backend = try await onRealHub(test)
        try await fill(test, backend)
        let before = try await marked(test)
        #expect(before.isSuperset(of: Self.personal), "nothing is tried in \(Self.personal.subtracting(before))")
        let bob = try await test.signIn("bob")
        try await backend.eraseUser(name: "ZAPHOD")
        let left = try await marked(test)
        #expect(left.isEmpty, "something is left in \(left)")
        let kept = try await backend.inbox(for: bob).notifications
        #expect(kept.map(\.message) == ["for two, by local time", "for all others", "for two"])
        let shared = try #require(kept.last?.id)
        let opened = try await backend.openContent(of: shared, variant: .original, for: bob)
        #expect(try await TestBackend.bytes(of: opened) == Sample.png(byteCount: 700))
        #expect(try await backend.status(of: shared, for: bob).receipts?["opened"] == 1)
        #expect(try await test.contentStore.digests(after: nil, limit: 10).count == 1)
        #expect(await code { try await backend.eraseUser(name: "zaphod") } == .notFound)
    }

    @Test("an erasure that was cut off is finished by the next, and the name can be given anew")
    func again() async throws {
        let test = try await TestBackend()
        let zed = try await test.user("zaphod")
        try await test.register(zed, handle: 1)
        let id = try await test.send(zed) { $0.message = "marvin-words" }
        test.hub.failCancels(times: 1)
        #expect(await code { try await test.backend.eraseUser(name: "zaphod") } != nil)
        // The user cannot sign in any more, and the notification cannot be read.
        #expect(await code { _ = try await test.signIn("zaphod") } == .unauthenticated)
        try await test.backend.eraseUser(name: "zaphod")
        #expect(try await test.store.notification(id) == nil)
        #expect(test.hub.devices.isEmpty)
        #expect(test.hub.sends.first?.state == .cancelled)
        #expect(try await marked(test) == [])
        #expect(try await test.inbox(try await test.user("zaphod")).isEmpty)
    }

    @Test("a request that signed in before the erasure writes nothing after it")
    func late() async throws {
        let test = try await TestBackend()
        let zed = try await test.user("zaphod")
        try await test.backend.eraseUser(name: "zaphod")
        #expect(await code { _ = try await test.send(zed) } == .unauthenticated)
        #expect(await code { _ = try await test.store(zed) } == .unauthenticated)
        #expect(await code { try await test.register(zed, handle: 1) } == .unauthenticated)
        #expect(try await marked(test) == [])
    }

    @Test("an export has the records of every table with an owner, what may be read, and the contents, and no secret")
    func export() async throws {
        let test = try await TestBackend()
        let backend = try await onRealHub(test)
        try await fill(test, backend)
        let lines = Mutex<[String]>([])
        let contents = Mutex<[Int]>([])
        try await backend.exportUser(
            name: "zaphod", line: { line in lines.withLock { $0.append(line) } },
            content: { _, name, content in
                #expect(name == "zaphod.png")
                let bytes = try await TestBackend.bytes(of: content)
                contents.withLock { $0.append(bytes.count) }
            })
        let all = lines.withLock { $0 }
        var kinds: Set<String> = []
        for line in all {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            kinds.insert(try #require(object["kind"] as? String))
            #expect(object["fields"] is [String: Any])
        }
        #expect(kinds == Set(test.store.userDataKinds + ["inbox"]))
        #expect(contents.withLock { $0.sorted() } == [600, 800])
        #expect(try await backend.contentBytes(ofUser: "zaphod") == 1_400, "what a display of the progress counts up to")
        let text = all.joined()
        #expect(text.contains("marvin-words for one alone"))
        #expect(text.contains("for two"))
        for secret in ["$scrypt$", "BEEB1E", "for all others"] { #expect(!text.contains(secret), "\(secret)") }
        #expect(await code { try await backend.exportUser(name: "nobody", line: { _ in }, content: { _, _, _ in }) } == .notFound)
    }

    @Test("an export comes in pages and leaves nothing out")
    func pages() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        for _ in 0..<450 { _ = try await test.send(ann) }
        let count = Mutex(0)
        try await test.backend.exportUser(
            name: "ann", line: { line in if line.contains("rich_notifications") { count.withLock { $0 += 1 } } },
            content: { _, _, _ in })
        #expect(count.withLock { $0 } == 450)
    }
}
