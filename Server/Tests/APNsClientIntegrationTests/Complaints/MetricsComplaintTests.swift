import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import Testing

/// Complaint 26 (Reference/APNs.md#8-26): a client can be asked how it is. A test for each of the seven numbers that are named
/// there.
@Suite("Complaint 26: the metrics of a client", .timeLimit(.minutes(10)))
struct MetricsComplaintTests {
    @Test("complaint 26: how many pushes wait for their answer")
    func inFlight() async throws {
        try await LocalService.run { service in
            #expect(await service.client.send(service.pushes(1)[0]).isAccepted)
            service.apns.inject(.delay(.milliseconds(100)), count: 10)
            let client = service.client
            let pushes = service.pushes(10)
            // The answers wait for a clock that stands.
            let outcomes = Task { await client.send(pushes) }
            await service.expect { $0.inFlight == 10 }
            let answered = await service.whileTimePasses { await outcomes.value }
            #expect(answered.filter(\.isAccepted).count == 10)
            await service.expect { $0.inFlight == 0 }
        }
    }

    @Test("complaint 26: how many streams APNs allows now")
    func streamLimit() async throws {
        var rules = EmulationRules()
        rules.concurrentStreams = 7
        try await LocalService.run(rules: rules) { service in
            #expect(await service.client.send(service.pushes(1)[0]).isAccepted)
            await service.expect { $0.streamLimit == 7 }
            service.apns.rules.concurrentStreams = 3
            #expect(await service.client.send(service.pushes(1)[0]).isAccepted)
            await service.expect { $0.streamLimit == 3 }
        }
    }

    @Test("complaint 26: how many bytes APNs takes now")
    func window() async throws {
        var rules = EmulationRules()
        rules.credit = .never
        try await LocalService.run(rules: rules) { service in
            let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 1_000))"}}"#
            for count in 1...3 {
                #expect(await service.client.send(service.push(service.tokens(1)[0], payload: payload)).isAccepted)
                await service.expect { $0.window == 65_535 - count * payload.utf8.count }
            }
        }
    }

    @Test("complaint 26: how far away APNs is")
    func roundTrip() async throws {
        try await LocalService.run { service in
            #expect(service.client.metrics.roundTrip == nil)
            #expect(await service.client.send(service.pushes(1)[0]).isAccepted)
            await service.expect { ($0.roundTrip ?? .zero) > .zero }
        }
    }

    @Test("complaint 26: how many streams APNs has reset")
    func resets() async throws {
        try await LocalService.run { service in
            service.apns.inject(.resetStream(processed: true), count: 3, afterRequests: 5)
            let outcomes = await service.client.send(service.pushes(20))
            #expect(outcomes.count { $0 == .unknown(.streamReset) } == 3)
            await service.expect { $0.resets == 3 }
        }
    }

    @Test("complaint 26: with which reasons APNs has ended connections")
    func goAwayReasons() async throws {
        var timing = APNsClientTiming()
        timing.connectPace = .milliseconds(5)
        timing.initialBackOff = .milliseconds(10)
        timing.maximumBackOff = .milliseconds(50)
        try await LocalService.run(timing: timing) { service in
            for reason in [APNsReason.shutdown, .idleTimeout, .shutdown, nil] {
                service.apns.inject(.goAway(lastStream: .thisRequest, reason: reason))
                #expect(await service.client.send(service.pushes(1)[0]).isAccepted)
            }
            await service.expect {
                $0.goAwaysByReason == [.shutdown: 2, .idleTimeout: 1, APNsReason(rawValue: ""): 1] && $0.goAways == 4
                    && $0.lastGoAwayReason == .shutdown
            }
        }
    }

    @Test("complaint 26: how old the provider token is, also while nothing is sent")
    func tokenAge() async throws {
        try await LocalService.run { service in
            #expect(service.client.metrics.tokenAge == nil)
            #expect(await service.client.send(service.pushes(1)[0]).isAccepted)
            #expect(service.client.metrics.tokenAge == .zero)
            service.clock.advance(by: .seconds(600))
            #expect(service.client.metrics.tokenAge == .seconds(600))
            let certificate = try service.apns.issueClientCertificate(ClientCertificateRequest(bundleID: LocalService.topic))
            let client = try service.otherClient {
                $0.credential = .certificate(chain: certificate.certificatePEM, privateKey: certificate.privateKeyPEM)
            }
            #expect(client.metrics.tokenAge == nil)
            await client.shutdown(within: .seconds(1))
        }
    }
}
