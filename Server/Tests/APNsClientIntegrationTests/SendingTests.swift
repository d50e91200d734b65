import APNsEmulation
import APNsHTTP2
import APNsProtocol
import ClarionTesting
import Crypto
import Foundation
import RichPushModel
import Testing

@Suite("The client against the local APNs", .timeLimit(.minutes(10)))
struct SendingTests {
    @Test("one push arrives, with its id")
    func onePush() async throws {
        try await LocalService.run { service in
            let push = service.push(service.tokens(1)[0])
            let pushID = try #require(push.apnsID)
            let outcome = await service.client.send(push)
            guard case .accepted(let id, let uniqueID) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(id == push.apnsID)
            #expect(uniqueID != nil)
            #expect(service.apns.acceptances(of: pushID) == 1)
        }
    }

    @Test("three thousand pushes arrive once each, on a limit that goes from 1 to 1000")
    func manyPushes() async throws {
        try await LocalService.run(limits: APNsClientLimits(connections: 2)) { service in
            let pushes = service.pushes(3000)
            let outcomes = await service.client.send(pushes)
            #expect(outcomes.filter(\.isAccepted).count == 3000)
            #expect(service.client.metrics.resends == 0)
            let counts = service.apns.acceptanceCounts
            #expect(counts.count == 3000)
            #expect(counts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("many callers at once share the connections")
    func manyCallers() async throws {
        try await LocalService.run { service in
            let pushes = service.pushes(300)
            let accepted = await withTaskGroup(of: Bool.self) { tasks in
                for push in pushes { tasks.addTask { await service.client.send(push).isAccepted } }
                return await tasks.reduce(0) { $1 ? $0 + 1 : $0 }
            }
            #expect(accepted == 300)
            #expect(service.client.metrics.connected <= 8)
        }
    }

    @Test("a small window of the server does not stop large bodies")
    func largeBodies() async throws {
        try await LocalService.run { service in
            let text = String(repeating: "x", count: 4000)
            let pushes = service.tokens(200).map { service.push($0, payload: #"{"aps":{"alert":"\#(text)"}}"#) }
            #expect(await service.client.send(pushes).filter(\.isAccepted).count == 200)
        }
    }

    @Test("bad pushes among good ones get their reasons at their places")
    func refusals() async throws {
        try await LocalService.run { service in
            let tokens = service.tokens(4)
            let moment = Timestamp(seconds: service.clock.now.seconds)
            service.apns.invalidate(token: tokens[3], reason: .unregistered, at: moment)
            let large = #"{"aps":{"alert":"\#(String(repeating: "x", count: 5000))"}}"#
            let outcomes = await service.client.send([
                service.push(tokens[0]), service.push(String(repeating: "ab", count: 32)),
                service.push(tokens[1], payload: large),
                service.push(tokens[2], topic: "com.example.foreign"), service.push(tokens[3]), service.push(tokens[1]),
            ])
            #expect(outcomes[0].isAccepted && outcomes[5].isAccepted)
            #expect(outcomes[1].reason == .badDeviceToken)
            #expect(outcomes[2].reason == .payloadTooLarge)
            #expect([.topicDisallowed, .badTopic].contains(outcomes[3].reason))
            guard case .rejected(let dead) = outcomes[4] else {
                Issue.record("\(outcomes[4])")
                return
            }
            #expect(dead.status == 410)
            #expect(dead.reason == .unregistered)
            #expect(dead.timestamp == moment.milliseconds)
        }
    }

    @Test("with strict rules a push that APNs would refuse never leaves")
    func strict() async throws {
        try await LocalService.run(strictness: .apple) { service in
            let token = service.tokens(1)[0]
            let outcome = await service.client.send(service.push(token, payload: String(repeating: " ", count: 4097)))
            #expect(outcome == .rejected(APNsRejection(status: 413, reason: .payloadTooLarge)))
            #expect(service.apns.requests(for: token).requests == 0)
            #expect(service.client.metrics.connected == 0)
        }
    }

    @Test("a key that APNs does not know is refused as such")
    func unknownKey() async throws {
        try await LocalService.run(clientKey: P256.Signing.PrivateKey()) { service in
            #expect(await service.client.send(service.pushes(1)).first?.reason == .invalidProviderToken)
        }
    }

    @Test("a token that grew too old while a connection rested is renewed before it is used")
    func agedToken() async throws {
        try await LocalService.run { service in
            let pushes = service.pushes(3)
            #expect(await service.client.send(pushes[0]).isAccepted)
            service.clock.advance(by: .seconds(3601))
            #expect(await service.client.send(pushes[1]).isAccepted)
        }
    }

    @Test("a token that APNs calls expired is renewed once and the push sent again on a new connection")
    func expiredToken() async throws {
        var rules = EmulationRules()
        rules.providerTokenLifetime = 1500
        rules.wedgesAfterTokenError = true
        var timing = APNsClientTiming()
        timing.initialBackOff = .milliseconds(10)
        try await LocalService.run(rules: rules, timing: timing) { service in
            let pushes = service.pushes(2)
            #expect(await service.client.send(pushes[0]).isAccepted)
            service.clock.advance(by: .seconds(1501))
            #expect(await service.client.send(pushes[1]).isAccepted)
            #expect(service.client.metrics.connected == 2)
        }
    }

    @Test("a server with an authority that is not trusted is not spoken to")
    func untrusted() async throws {
        var timing = APNsClientTiming()
        timing.pushDeadline = .seconds(15)
        try await LocalService.run(timing: timing, trustsAuthority: false) { service in
            let token = service.tokens(1)[0]
            #expect(await service.client.send(service.push(token)) == .notSent(.tlsFailed))
            #expect(service.apns.requests(for: token).requests == 0)
        }
    }

    @Test("the first failed handshake is logged with where and why")
    func logged() async throws {
        let notes = LogNotes()
        var timing = APNsClientTiming()
        timing.pushDeadline = .seconds(15)
        try await LocalService.run(timing: timing, trustsAuthority: false, logger: notes.logger) { service in
            _ = await service.client.send(service.push(service.tokens(1)[0]))
        }
        let line = try #require(notes.lines.first { $0.message == "The TLS handshake with APNs failed" })
        #expect(line.metadata["host"] == "127.0.0.1")
        #expect(line.metadata["port"].flatMap { Int($0) } != nil)
        #expect(line.metadata["error"]?.hasPrefix("no authority that is trusted here vouches for the certificate") == true)
    }

    @Test("a certificate for another name is not accepted")
    func wrongName() async throws {
        var timing = APNsClientTiming()
        timing.pushDeadline = .seconds(15)
        try await LocalService.run(timing: timing, serverName: "other.example") { service in
            let outcome = await service.client.send(service.pushes(1)).first
            #expect(outcome == .notSent(.tlsFailed))
        }
    }

    @Test("an address in the certificate is accepted as the server's name")
    func address() async throws {
        try await LocalService.run(serverName: nil) { service in
            #expect(await service.client.send(service.pushes(1)).first?.isAccepted == true)
        }
    }
}
