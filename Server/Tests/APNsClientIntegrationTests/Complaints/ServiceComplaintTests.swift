import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Crypto
import Foundation
import RichPushModel
import Testing

/// What users of other clients complain of (Reference/APNs.md#8), as promises kept against the local APNs. The numbers are those
/// of that section; Documentation/APNsComplaints.md lists them all.
@Suite("Complaints about services", .timeLimit(.minutes(10)))
struct ServiceComplaintTests {
    private var quickTiming: APNsClientTiming {
        var timing = APNsClientTiming()
        timing.pushDeadline = .seconds(20)
        timing.initialBackOff = .milliseconds(10)
        timing.maximumBackOff = .milliseconds(50)
        timing.queueBeforeScaling = .milliseconds(20)
        timing.connectPace = .milliseconds(5)
        timing.drain = .seconds(2)
        return timing
    }

    @Test("complaints 3, 18 and 19: when one connection is not enough, there are more by themselves")
    func severalConnections() async throws {
        var rules = EmulationRules()
        rules.concurrentStreams = 4
        var timing = quickTiming
        // A machine under load may take long; that is not what this test is about.
        timing.pushDeadline = .seconds(300)
        try await LocalService.run(rules: rules, limits: APNsClientLimits(connections: 4), timing: timing) { service in
            service.apns.inject(.delay(.milliseconds(30)), count: 1200)
            let text = String(repeating: "x", count: 3900)
            let pushes = service.tokens(1200).map { service.push($0, payload: #"{"aps":{"alert":"\#(text)"}}"#) }
            let outcomes = await service.whileTimePasses { await service.client.send(pushes) }
            #expect(outcomes.filter(\.isAccepted).count == 1200)
            let connections = Set(service.apns.recordedExchanges.map(\.connection))
            #expect((2...4).contains(connections.count), "\(service.client.metrics)")
        }
    }

    @Test("complaints 4 and 5: after GOAWAY every push still arrives, once, over a new connection, again and again")
    func goAway() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            for _ in 0..<5 {
                service.apns.inject(.goAway(lastStream: .beforeThisRequest, reason: .shutdown), afterRequests: 30)
                #expect(await service.client.send(service.pushes(100)).filter(\.isAccepted).count == 100)
            }
            #expect(service.client.metrics.goAways >= 5)
            #expect(service.apns.acceptanceCounts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("complaint 6: a wrong certificate is named, and not tried in a loop")
    func refusedCredential() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            service.apns.inject(.goAway(lastStream: .zero, reason: .badCertificateEnvironment), count: 1000)
            #expect(await service.client.send(service.pushes(1)) == [.notSent(.credentialRefused)])
            #expect(await service.client.send(service.pushes(1)) == [.notSent(.credentialRefused)])
            #expect(service.client.metrics.lastGoAwayReason == .badCertificateEnvironment)
            #expect(service.client.metrics.connected == 1)
        }
    }

    @Test("complaint 9: refusals of bad tokens leave the limit of the others alone")
    func quarantine() async throws {
        try await LocalService.run(limits: APNsClientLimits(connections: 1), timing: quickTiming) { service in
            var doubtful = (0..<50).map { _ in service.push(String(repeating: "ab", count: 32)) }
            for index in doubtful.indices { doubtful[index].standing = .suspect }
            async let refused = service.client.send(doubtful)
            let accepted = await service.client.send(service.pushes(500)).filter(\.isAccepted).count
            #expect(accepted == 500)
            #expect(await refused.allSatisfy { $0.reason == .badDeviceToken })
            let exchanges = service.apns.recordedExchanges
            let bad = Set(exchanges.filter { $0.answer?.status == 400 }.map(\.connection))
            #expect(bad.isDisjoint(with: exchanges.filter { $0.answer?.status == 200 }.map(\.connection)))
        }
    }

    @Test("complaint 11: many callers over many hours never change the token too often")
    func tokenUpdates() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            for _ in 0..<60 {
                let outcomes = await withTaskGroup(of: APNsOutcome.self) { tasks in
                    for push in service.pushes(4) { tasks.addTask { await service.client.send(push) } }
                    return await tasks.reduce(into: [APNsOutcome]()) { $0.append($1) }
                }
                #expect(outcomes.allSatisfy { $0.isAccepted })
                service.clock.advance(by: .seconds(7 * 60))
            }
        }
    }

    @Test("complaint 12: an expired token is renewed once, on a new connection, and a wrong clock is no loop")
    func expiredToken() async throws {
        var rules = EmulationRules()
        rules.providerTokenLifetime = 60
        rules.wedgesAfterTokenError = true
        try await LocalService.run(rules: rules, timing: quickTiming) { service in
            #expect(await service.client.send(service.pushes(1)).first?.isAccepted == true)
            service.clock.advance(by: .seconds(120))
            // Too young to be replaced: the answer is handed on.
            #expect(await service.client.send(service.pushes(1)).first?.reason == .expiredProviderToken)
            service.clock.advance(by: .seconds(25 * 60))
            #expect(await service.client.send(service.pushes(1)).first?.isAccepted == true)
            #expect(service.client.metrics.resends <= 1)
        }
    }

    @Test("complaint 13: two teams never share a connection")
    func twoTeams() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            let key = P256.Signing.PrivateKey()
            try service.apns.registerKey(teamID: "OTHER67890", keyID: "OKEY567890", publicKeyPEM: key.publicKey.pemRepresentation)
            try service.apns.registerApp(bundleID: "com.example.other", teamID: "OTHER67890")
            let tokenKey = try ProviderTokenKey(privateKey: key, keyID: "OKEY567890", teamID: "OTHER67890")
            let other = try service.otherClient {
                $0.credential = .token(ProviderTokenCache(key: tokenKey, clock: service.clock))
            }
            let token = service.apns.issueToken(device: "other", topic: "com.example.other")
            for _ in 0..<5 {
                #expect(await service.client.send(service.pushes(2)).allSatisfy { $0.isAccepted })
                #expect(await other.send(service.push(token, topic: "com.example.other")).isAccepted)
            }
            await other.shutdown(within: .seconds(1))
        }
    }

    @Test("complaint 17: a thousand pushes one after the other need one connection")
    func longLived() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            for push in service.pushes(1000) { #expect(await service.client.send(push).isAccepted) }
            #expect(service.client.metrics.connected == 1)
        }
    }

    @Test("complaint 20: what may have arrived is not sent again, and what cannot have is")
    func duplicates() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            service.apns.inject(.refuseStream, count: 10, afterRequests: 5)
            #expect(await service.client.send(service.pushes(100)).filter(\.isAccepted).count == 100)
            #expect(service.apns.acceptanceCounts.values.allSatisfy { $0 == 1 })
            await service.expect { $0.resends == 10 }
            for _ in 0..<3 {
                service.apns.inject(.resetConnection(processed: true), afterRequests: 40)
                let pushes = service.pushes(200)
                for (push, outcome) in zip(pushes, await service.client.send(pushes)) {
                    let count = service.apns.acceptances(of: try #require(push.apnsID))
                    // Only the end of a connection leaves anything open.
                    #expect(outcome.isAccepted ? count == 1 : outcome == .unknown(.connectionClosed) && count <= 1)
                }
            }
        }
    }

    @Test("complaint 23: priority 10 and an empty dictionary are sent as they were asked for")
    func asAsked() async throws {
        try await LocalService.run(strictness: .apple) { service in
            let push = service.push(service.tokens(1)[0], payload: "{}")
            #expect(await service.client.send(push).isAccepted)
            let exchange = try #require(service.apns.recordedExchanges.last)
            #expect(exchange.payload == Array("{}".utf8))
            #expect(exchange.headers.first { $0.name == "apns-priority" }?.value == "10")
        }
    }

    @Test("complaint 24: a service that cannot be reached is a typed outcome, and the client recovers")
    func unreachable() async throws {
        var timing = quickTiming
        timing.pushDeadline = .seconds(1)
        try await LocalService.run(timing: timing) { service in
            let client = try service.otherClient { $0.endpoint.port = 1 }
            #expect(await client.send(service.pushes(1)) == [.notSent(.unreachable)])
            await client.shutdown(within: .seconds(1))
        }
    }

    @Test(
        "complaint 25: every documented push type is sent, and an unknown one can be",
        arguments: APNsPushType.documented)
    func pushTypes(type: APNsPushType) async throws {
        try await LocalService.run(strictness: .wireOnly) { service in
            let topic = LocalService.topic + (type.topicSuffix ?? "")
            let token = service.apns.issueToken(device: "a device", topic: topic)
            let headers = APNsPush.Headers(topic: topic, pushType: type, priority: type == .background ? 5 : 10)
            let payload = type == .background ? #"{"aps":{"content-available":1}}"# : #"{"aps":{}}"#
            let known = await service.client.send(APNsPush(deviceToken: token, headers: headers, payload: Array(payload.utf8)))
            #expect(known.isAccepted, "\(type.rawValue): \(known)")
            #expect(service.apns.deliveries.map(\.topic) == [topic])
            var future = headers
            future.pushType = APNsPushType(rawValue: "hologram")
            let refused = await service.client.send(APNsPush(deviceToken: token, headers: future, payload: Array(payload.utf8)))
            #expect(refused.reason == .invalidPushType)
            let sent = service.apns.recordedExchanges.flatMap(\.headers).filter { $0.name == "apns-push-type" }.map(\.value)
            #expect(sent == [type.rawValue, "hologram"])
        }
    }

    @Test("complaint 26: the client can be asked how it is")
    func metrics() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            service.apns.inject(.goAway(lastStream: .thisRequest, reason: .shutdown), afterRequests: 20)
            _ = await service.client.send(service.pushes(50))
            await service.expect {
                $0.accepted == 50 && $0.goAways == 1 && $0.lastGoAwayReason == .shutdown && $0.requests >= 50
                    && $0.inFlight == 0 && $0.connected >= 2
            }
        }
    }
}
