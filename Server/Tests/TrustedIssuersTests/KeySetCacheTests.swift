import ClarionTesting
import RichPushModel
import Testing

@testable import TrustedIssuers

@Suite(.timeLimit(.minutes(2))) struct KeySetCacheTests {
    private typealias Samples = TokenSamples

    private static let old = Samples.token()
    /// Signed with the key that the issuer has after its rotation.
    private static let new = Samples.token(header: Samples.header(.es256, ["kid": "\"k2\""]), key: .otherES256)

    /// A set with one key, as a node that fetched it at this moment stores it.
    private static func stored(_ key: String, at moment: Timestamp) -> StoredKeySet {
        StoredKeySet(
            issuer: Samples.issuer, source: IssuerTestServer.discoveryAddress, document: Array(Raw.keySet(key).utf8),
            fetchedAt: moment, life: .seconds(3_600))
    }

    @Test("keys are found by discovery, at an address, and in a file")
    func sources() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let discovering = try await RunningVerifier(server)
        try await discovering.run { #expect(await discovering.reason(Self.old) == nil) }
        #expect(server.count(IssuerTestServer.discoveryAddress) == 1 && server.count() == 1)
        let direct = try await RunningVerifier(server, ["keys-address": [IssuerTestServer.keysAddress]])
        try await direct.run { #expect(await direct.reason(Self.old) == nil) }
        #expect(server.count(IssuerTestServer.discoveryAddress) == 1 && server.count() == 2)
    }

    @Test("a key file needs no run: it answers at once, and an unknown kid waits for nothing")
    func file() async throws {
        let verifier = await Samples.verifier(try await Samples.issuer())
        #expect(await Samples.reason(Self.old, by: verifier) == nil)
        #expect(await Samples.reason(Self.new, by: verifier) == .unknownKey)
        #expect(verifier.standings.map(\.state) == [.current] && verifier.standings[0].age == nil)
    }

    @Test("a token with a key of a rotation is accepted after one fetch, and one of the old key no more")
    func rotation() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let node = try await RunningVerifier(server)
        try await node.run {
            #expect(await node.reason(Self.old) == nil)
            #expect(await node.isAsleep())
            server.rotate(to: [SigningKey.otherES256.jwk("k2")])
            node.clock.advance(by: .seconds(60))
            #expect(await node.reason(Self.new) == nil)
            #expect(await node.reason(Self.old) == .unknownKey)
            #expect(server.count() == 2 && node.standing.fetches == 2 && node.standing.refusedUnknownKeys == 1)
        }
    }

    @Test("a hundred tokens with unknown kids at once start one fetch")
    func oneFetch() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let node = try await RunningVerifier(server)
        try await node.run {
            #expect(await node.reason(Self.old) == nil)
            #expect(await node.isAsleep())
            server.rotate(to: [SigningKey.otherES256.jwk("k2")])
            node.clock.advance(by: .seconds(60))
            server.gate.close()
            let reasons = await withTaskGroup(of: TokenError.Reason?.self) { group in
                for number in 0..<100 {
                    let invented = Samples.token(header: Samples.header(.es256, ["kid": "\"invented \(number)\""]))
                    group.addTask { await node.reason(number == 50 ? Self.new : invented) }
                }
                await server.gate.holds(1)
                #expect(await eventually { node.verifier.waiterCount == 100 })
                server.gate.open()
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(reasons.filter { $0 == nil }.count == 1 && reasons.filter { $0 == .unknownKey }.count == 99)
            #expect(server.count() == 2)
        }
    }

    @Test("unknown kids start at most one fetch a minute, however many come")
    func oncePerMinute() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let node = try await RunningVerifier(server)
        try await node.run {
            #expect(await node.reason(Self.old) == nil)
            #expect(await node.isAsleep())
            for second in 1...180 {
                node.clock.advance(by: .seconds(1))
                #expect(await node.reason(Self.new) == .unknownKey)
                #expect(server.count() == 1 + second / 60)
            }
            #expect(node.standing.refusedUnknownKeys == 177)
            // The known key never waits.
            #expect(await node.reason(Self.old) == nil)
        }
    }

    @Test("a caller that gives up ends no fetch that others wait for")
    func cancelledCaller() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let node = try await RunningVerifier(server)
        try await node.run {
            server.gate.close()
            let first = Task { await node.reason(Self.old) }
            await server.gate.holds(1)
            #expect(await eventually { node.verifier.waiterCount == 1 })
            let second = Task { await node.reason(Self.old) }
            #expect(await eventually { node.verifier.waiterCount == 2 })
            first.cancel()
            #expect(await first.value == .keysUnavailable)
            server.gate.open()
            // Discovery, then the keys.
            #expect(await second.value == nil)
            #expect(server.count() == 1)
        }
    }

    @Test("a caller that waits when the verifier stops is refused, and so is every later one")
    func stopped() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let node = try await RunningVerifier(server)
        let early = Task { await node.reason(Self.old) }
        #expect(await eventually { node.verifier.waiterCount == 1 })
        server.isDown = true
        try await node.run { #expect(await early.value == .keysUnavailable) }
        #expect(await node.reason(Self.old) == .keysUnavailable)
    }

    @Test("keys are renewed in the background before their life ends, without a token")
    func renewal() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk(), cacheControl: "public, max-age=1000")
        let node = try await RunningVerifier(server)
        try await node.run {
            #expect(await eventually { node.clock.hasSleeper(dueIn: .seconds(800)) })
            server.rotate(to: [SigningKey.otherES256.jwk("k2")])
            node.clock.advance(by: .seconds(800))
            #expect(await eventually { server.count() == 2 && node.clock.sleeperCount == 1 })
            let later = Samples.token(
                header: Samples.header(.es256, ["kid": "\"k2\""]), claims: Samples.claims(["exp": "\(Samples.now + 3_600)"]),
                key: .otherES256)
            #expect(await node.reason(later) == nil)
            #expect(node.standing.state == .current && server.count() == 2)
        }
    }

    @Test("through an outage the last good keys stay for 24 hours after their life, and no longer")
    func outage() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let node = try await RunningVerifier(server, ["longest-life-seconds": ["604800"]])
        let lasting = Samples.token(claims: Samples.claims(["exp": "\(Samples.now + 604_800)"]))
        try await node.run {
            #expect(await node.reason(lasting) == nil)
            #expect(await node.isAsleep())
            server.isDown = true
            node.clock.advance(by: .seconds(3_599))
            #expect(await eventually { node.standing.failuresInARow == 1 })
            #expect(node.standing.state == .current && node.standing.lastFailure == "no connection to id.example.test")
            node.clock.advance(by: .seconds(1))
            #expect(node.standing.state == .outlived && node.standing.keyCount == 1)
            #expect(await node.reason(lasting) == nil)
            node.clock.advance(by: .seconds(86_399))
            #expect(await node.reason(lasting) == nil)
            node.clock.advance(by: .seconds(1))
            #expect(node.standing.state == .missing && node.standing.keyCount == 0)
            #expect(await node.reason(lasting) == .keysUnavailable)
            #expect(node.log.lines.contains { $0.metadata["issuer"] == Samples.issuer && $0.level == .warning })
        }
    }

    @Test("after an outage the keys come back by themselves, and failures are tried again ever more slowly")
    func recovery() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        server.isDown = true
        let node = try await RunningVerifier(server)
        try await node.run {
            for (number, pause) in [60, 120, 240, 480, 960, 960].enumerated() {
                #expect(await eventually { node.clock.hasSleeper(dueIn: .seconds(pause)) })
                #expect(node.standing.failures == number + 1 && node.standing.failuresInARow == number + 1)
                #expect(node.standing.state == .missing)
                node.clock.advance(by: .seconds(pause))
            }
            #expect(await eventually { node.clock.hasSleeper(dueIn: .seconds(960)) })
            server.isDown = false
            node.clock.advance(by: .seconds(960))
            #expect(await eventually { node.standing.state == .current })
            #expect(node.standing.failures == 7 && node.standing.failuresInARow == 0 && node.standing.lastFailure == nil)
        }
    }

    @Test("a rotation during an outage fails for the new key alone")
    func rotationInOutage() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let node = try await RunningVerifier(server)
        try await node.run {
            #expect(await node.reason(Self.old) == nil)
            #expect(await node.isAsleep())
            server.isDown = true
            node.clock.advance(by: .seconds(60))
            #expect(await node.reason(Self.new) == .unknownKey)
            #expect(await node.reason(Self.old) == nil)
            #expect(node.standing.failures == 1)
        }
    }

    @Test("after a restart in an outage the stored keys verify, as old as they are")
    func restart() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let store = MemoryKeySetStore()
        let before = try await RunningVerifier(server, store: store)
        try await before.run {
            #expect(await before.reason(Self.old) == nil)
            #expect(await before.isAsleep())
        }
        server.isDown = true
        let later = ManualClock(start: before.clock.now + .seconds(3_600 + 86_399))
        let after = try await RunningVerifier(server, store: store, clock: later)
        try await after.run {
            #expect(await eventually { after.standing.state == .outlived && after.standing.failures == 1 })
            // The token itself is over by now.
            #expect(await after.reason(Self.old) == .expired)
            later.advance(by: .seconds(1))
            #expect(after.standing.state == .missing)
        }
    }

    @Test("stored keys are not used when they are too old, from the future, or of other settings")
    func unusableStored() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        server.isDown = true
        let document = Array(Raw.keySet(SigningKey.es256.jwk()).utf8)
        let start = ManualClock.standardStart
        let cases: [(String, Timestamp, [UInt8])] = [
            (IssuerTestServer.discoveryAddress, start - .seconds(3_600 + 86_400), document),
            (IssuerTestServer.discoveryAddress, start + .seconds(300), document),
            (IssuerTestServer.keysAddress, start, document), (IssuerTestServer.discoveryAddress, start, Array("{}".utf8)),
            (IssuerTestServer.discoveryAddress, start, document + [UInt8](repeating: 0x20, count: 65_536)),
        ]
        for (source, fetchedAt, document) in cases {
            let store = MemoryKeySetStore()
            try await store.save(
                StoredKeySet(
                    issuer: Samples.issuer, source: source, document: document, fetchedAt: fetchedAt, life: .seconds(3_600)))
            let node = try await RunningVerifier(server, store: store)
            try await node.run { #expect(await node.reason(Self.old) == .keysUnavailable) }
        }
    }

    @Test("a node that cannot reach the issuer takes the newer keys that another node stored")
    func otherNode() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let store = MemoryKeySetStore()
        let node = try await RunningVerifier(server, store: store)
        try await node.run {
            #expect(await node.reason(Self.old) == nil)
            #expect(await node.isAsleep())
            server.isDown = true
            node.clock.advance(by: .seconds(60))
            try await store.save(Self.stored(SigningKey.otherES256.jwk("k2"), at: node.clock.now))
            #expect(await node.reason(Self.new) == nil)
        }
    }

    @Test("a caller that waits for a fetch that fails is answered from the newer keys that another node stored")
    func waiterOnOtherNode() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let store = MemoryKeySetStore()
        let node = try await RunningVerifier(server, store: store)
        try await node.run {
            #expect(await node.reason(Self.old) == nil)
            #expect(await node.isAsleep())
            node.clock.advance(by: .seconds(60))
            server.gate.close()
            let waiting = Task { await node.reason(Self.new) }
            await server.gate.holds(1)
            #expect(await eventually { node.verifier.waiterCount == 1 })
            try await store.save(Self.stored(SigningKey.otherES256.jwk("k2"), at: node.clock.now))
            server.isDown = true
            store.gate.close()
            server.gate.open()
            await store.gate.holds(1)
            #expect(node.verifier.waiterCount == 1)
            store.gate.open()
            #expect(await waiting.value == nil)
        }
    }

    @Test("an empty key set is the issuer's word: every key is revoked")
    func emptied() async throws {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let node = try await RunningVerifier(server)
        try await node.run {
            #expect(await node.reason(Self.old) == nil)
            #expect(await node.isAsleep())
            server.rotate(to: [])
            node.clock.advance(by: .seconds(60))
            #expect(await node.reason(Self.new) == .unknownKey)
            #expect(await node.reason(Self.old) == .unknownKey)
        }
    }
}
