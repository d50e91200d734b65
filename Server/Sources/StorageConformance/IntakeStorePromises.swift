import PushHub
import RichPushModel
import TagExpressions
import Testing

/// What an `IntakeStore` and a `TelemetryStore` promise.
public enum IntakeStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<HubStorage>] = [
        keepsASend, schedules, repeatsAnAnswer, scopesKeys, cancelsOnce, cancelsByKey, closesKeys, keepsTests, countsByIndex,
        countsItsKind, sweeps,
    ]

    private static let keepsASend = StoragePromise<HubStorage>("a send is accepted and can be asked for") { storage in
        let send = try Sample.send()
        #expect(try await storage.intake.accept(send) == .accepted)
        let telemetry = try #require(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.start))
        #expect(
            telemetry
                == NotificationTelemetry(
                    id: send.id, state: .accepted, enqueuedAt: Sample.start, dueAt: Sample.start, platformOutcomes: [.apns: [:]],
                    body: send.message.body))
        #expect(try await storage.telemetry.telemetry(of: NotificationID(), in: Sample.hub, at: Sample.start) == nil)
    }

    private static let schedules = StoragePromise<HubStorage>("a send that is due later is leased later") { storage in
        let send = try Sample.send(due: Sample.time(60))
        _ = try await storage.intake.accept(send)
        #expect(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.start)?.state == .scheduled)
        #expect(try await storage.queue.lease(Sample.lease(4, at: Sample.time(59))).isEmpty)
        #expect(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.time(60))?.state == .accepted)
        #expect(try await storage.queue.lease(Sample.lease(4, at: Sample.time(60))).map(\.id.notification) == [send.id])
        #expect(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.time(60))?.state == .dispatching)
    }

    private static let repeatsAnAnswer = StoragePromise<HubStorage>(
        "an idempotency key repeats the answer for the same content and refuses another"
    ) { storage in
        let key = AcceptedSend.Idempotency(key: "k", digest: [1])
        #expect(try await storage.intake.earlier(key, in: Sample.hub) == nil)
        #expect(try await storage.intake.notification(key: "k", in: Sample.hub) == nil)
        let first = try Sample.send(key: key)
        #expect(try await storage.intake.accept(first) == .accepted)
        let second = try Sample.send(at: Sample.time(9), key: key)
        let repeated = IntakeAnswer.repeated(id: first.id, dueAt: first.dueAt)
        #expect(try await storage.intake.accept(second) == repeated)
        #expect(try await storage.intake.earlier(key, in: Sample.hub) == repeated)
        #expect(try await storage.intake.notification(key: "k", in: Sample.hub) == first.id)
        #expect(try await storage.intake.notification(key: "k", in: Sample.otherHub) == nil)
        let other = try Sample.send(key: AcceptedSend.Idempotency(key: "k", digest: [2]))
        #expect(try await storage.intake.accept(other) == .mismatch)
        #expect(try await storage.telemetry.telemetry(of: second.id, in: Sample.hub, at: Sample.start) == nil)
        #expect(try await storage.queue.lease(Sample.lease(4)).count == 1)
    }

    private static let keepsTests = StoragePromise<HubStorage>(
        "the key of a test send is one caller's, who leaves an answer for the others or loses it"
    ) { storage in
        func take(_ key: TestSendKey, in hub: HubID = Sample.hub, at seconds: Int64) async throws -> TestSendTaking {
            try await storage.intake.take(
                key, abandonedBefore: Sample.time(seconds - 60), in: hub, at: Sample.time(seconds))
        }
        let (first, second) = (TestSendKey("k", id: NotificationID()), TestSendKey("k", id: NotificationID()))
        #expect(try await take(first, at: 0) == .new(id: first.id))
        #expect(try await take(second, at: 60) == .taken(id: first.id, answer: nil))
        #expect(try await take(second, in: Sample.otherHub, at: 60) == .new(id: second.id))
        // A push that left before the first died is repeated under its own id.
        #expect(try await take(second, at: 61) == .new(id: first.id))
        #expect(try await take(second, at: 62) == .taken(id: first.id, answer: nil))
        try await storage.intake.keep([9], for: second, in: Sample.hub)
        try await storage.intake.keep([1], for: first, in: Sample.hub)
        // The caller that was considered dead comes back too late.
        try await storage.intake.keep([2], for: first, in: Sample.hub)
        #expect(try await take(second, at: 500) == .taken(id: first.id, answer: [1]))
        #expect(try await storage.queue.lease(Sample.lease(4)).isEmpty)
    }

    private static let scopesKeys = StoragePromise<HubStorage>("an idempotency key means nothing in another hub") { storage in
        let key = AcceptedSend.Idempotency(key: "k", digest: [1])
        for hub in [Sample.hub, Sample.otherHub] {
            let answer = try await storage.intake.accept(try Sample.send(hub: hub, key: key))
            #expect(answer == .accepted)
        }
    }

    private static let cancelsOnce = StoragePromise<HubStorage>("a cancelled send is not leased any more") { storage in
        let send = try Sample.send(size: 20_000)
        _ = try await storage.intake.accept(send)
        #expect(try await storage.queue.lease(Sample.lease(1)).count == 1)
        #expect(try await storage.intake.cancel(send.id, in: Sample.hub, at: Sample.time(1)))
        #expect(try await storage.intake.cancel(send.id, in: Sample.hub, at: Sample.time(2)) == false)
        #expect(try await storage.queue.lease(Sample.lease(4)).isEmpty)
        let telemetry = try #require(try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.time(3)))
        #expect(telemetry.state == .cancelled && telemetry.endedAt == Sample.time(1))
    }

    private static let cancelsByKey = StoragePromise<HubStorage>("a send is cancelled by the key it came under") { storage in
        let key = AcceptedSend.Idempotency(key: "k", digest: [1])
        let send = try Sample.send(key: key)
        _ = try await storage.intake.accept(send)
        #expect(try await storage.intake.cancel(key: "k", in: Sample.otherHub, at: Sample.time(1)) == nil)
        #expect(try await storage.intake.cancel(key: "k", in: Sample.hub, at: Sample.time(1)) == send.id)
        #expect(try await storage.intake.cancel(key: "k", in: Sample.hub, at: Sample.time(2)) == nil)
        #expect(try await storage.queue.lease(Sample.lease(4)).isEmpty)
        #expect(try await storage.intake.earlier(key, in: Sample.hub) == .repeated(id: send.id, dueAt: send.dueAt))
        let telemetry = try await storage.telemetry.telemetry(of: send.id, in: Sample.hub, at: Sample.time(3))
        #expect(telemetry?.state == .cancelled)
    }

    private static let closesKeys = StoragePromise<HubStorage>("a key that was cancelled before its send takes none") { storage in
        for _ in 0..<2 { #expect(try await storage.intake.cancel(key: "k", in: Sample.hub, at: Sample.start) == nil) }
        let send = try Sample.send(key: AcceptedSend.Idempotency(key: "k", digest: [1]))
        #expect(try await storage.intake.accept(send) == .mismatch)
        #expect(try await storage.queue.lease(Sample.lease(4)).isEmpty)
    }

    private static let countsByIndex = StoragePromise<HubStorage>("an audience is never counted too small") { storage in
        for number in 0..<6 {
            let tags = ["all"] + (number < 2 ? ["few"] : ["many"])
            let request = try Sample.device("d\(number)", handle: number, tags: tags)
            _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        }
        let counts: [(String, Int)] = [
            ("few", 2), ("FEW || many", 6), ("all && few", 2), ("!few", 6), ("!(!few || many)", 2), ("none", 0),
            ("$InstallationId:{d3}", 1),
        ]
        for (text, count) in counts {
            let audience = try TagExpression(parsing: text)
            #expect(try await storage.intake.audienceSize(audience, in: Sample.hub, limit: 100) == count, "\(text)")
        }
        #expect(try await storage.intake.audienceSize(nil, in: Sample.hub, limit: 100) == 6)
        #expect(try await storage.intake.audienceSize(nil, in: Sample.hub, limit: 4) == 4)
    }

    private static let countsItsKind = StoragePromise<HubStorage>(
        "the targets of a send are the records of its kind, and a hub's records are counted without the tokens of activities"
    ) { storage in
        for number in 0..<3 {
            var request = try Sample.device("d\(number)", handle: number, tags: ["all"] + (number == 0 ? ["first"] : []))
            request.tokens = [.init(.activity(id: "7"), handle: Sample.handle(90 + number), reportedAt: Sample.start)]
            _ = try await storage.devices.upsert(request, in: Sample.hub, at: Sample.start)
        }
        let (own, token) = (SendFormat.native(.apns), SendFormat.native(InstallationToken.Kind.activity(id: "7").platform))
        for (text, formats, count) in [
            ("all", [own], 3), ("all", [token], 3), ("all", [own, token], 6), ("all && !first", [own], 2),
            ("first || all", [own], 3), ("all", [.template], 0), ("none", [own], 0),
        ] as [(String, [SendFormat], Int)] {
            let query = try await storage.intake.compile(
                try TagExpression(parsing: text), in: Sample.hub, limit: 100, counting: []
            ).query
            let found = try await storage.intake.targets(of: query, as: formats, in: Sample.hub, at: Sample.start)
            #expect(found == count, "\(text) \(formats.map(\.text))")
        }
        #expect(try await storage.devices.count(in: Sample.hub) == 3)
    }

    private static let sweeps = StoragePromise<HubStorage>("a sweep removes what ended long ago and nothing else") { storage in
        let key = AcceptedSend.Idempotency(key: "k", digest: [1])
        let old = try Sample.send(key: key)
        let open = try Sample.send()
        for send in [old, open] { _ = try await storage.intake.accept(send) }
        #expect(try await storage.intake.cancel(old.id, in: Sample.hub, at: Sample.time(1)))
        #expect(try await storage.telemetry.sweep(endedBefore: Sample.time(1), at: Sample.time(1), limit: 10) == 1)
        #expect(try await storage.telemetry.sweep(endedBefore: Sample.time(2), at: Sample.time(2), limit: 10) == 1)
        #expect(try await storage.telemetry.sweep(endedBefore: Sample.time(2), at: Sample.time(2), limit: 10) == 0)
        #expect(try await storage.telemetry.telemetry(of: old.id, in: Sample.hub, at: Sample.time(3)) == nil)
        #expect(try await storage.telemetry.telemetry(of: open.id, in: Sample.hub, at: Sample.time(3)) != nil)
        #expect(try await storage.intake.earlier(key, in: Sample.hub) == nil)
    }
}
