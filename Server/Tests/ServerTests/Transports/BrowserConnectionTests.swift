import ClarionTesting
import PushHub
import RichPushModel
import Testing

@testable import WebPushEmulation

@Suite("Connections to the push services of browsers", .timeLimit(.minutes(5)))
struct BrowserConnectionTests {
    private static func send(_ devices: [DeviceToken], at rig: BrowserRig) async -> [PushOutcome] {
        Array(await rig.transport.send(TransportPromises.batch(devices, at: rig)))
    }

    @Test("many pushes at once share a connection where the push service speaks HTTP/2")
    func shared() async throws {
        try await BrowserRig.run(RigTerms()) { rig in
            rig.slowDown()
            let outcomes = await Self.send(try await rig.devices(40), at: rig)
            #expect(outcomes.allSatisfy { $0 == .accepted }, "\(outcomes)")
            // A machine that stands still for seconds may lose one, but each push of its own would make 16.
            #expect(rig.proxy.accepted <= 4)
        }
    }

    @Test("a push service without HTTP/2 gets each push once by HTTP/1.1, and is not offered HTTP/2 again")
    func withoutHTTP2() async throws {
        var terms = RigTerms()
        terms.speaksHTTP2 = false
        try await BrowserRig.run(terms) { rig in
            let devices = try await rig.devices(40)
            let outcomes = await Self.send(devices, at: rig)
            #expect(outcomes.allSatisfy { $0 == .accepted }, "\(outcomes)")
            #expect(rig.taken(by: devices).allSatisfy { $0 == 1 })
            // An offer is a connection of its own. Those of the pushes above may still be made for a while.
            var isOffered = true
            for _ in 0..<20 where isOffered {
                let connections = rig.proxy.accepted
                #expect(await Self.send(Array(devices.prefix(1)), at: rig) == [.accepted])
                isOffered = rig.proxy.accepted > connections
            }
            #expect(!isOffered)
        }
    }

    @Test(
        "a push leaves where the certificate is for the name of the push service, whatever else it names",
        arguments: [(["localhost"], true), (["127.0.0.1", "::1"], false), (["push.example.net"], false)], [true, false])
    func verified(certificate: (names: [String], isGood: Bool), speaksHTTP2: Bool) async throws {
        let isGood = certificate.isGood
        var terms = RigTerms()
        (terms.host, terms.names, terms.speaksHTTP2) = ("localhost", certificate.names, speaksHTTP2)
        try await BrowserRig.run(terms) { rig in
            let devices = try await rig.devices(1)
            var outcome = PushOutcome.badToken
            // Where the name stands for the machine's IPv6 address too, nothing listens there, and either may be chosen.
            for _ in 0..<30 {
                outcome = try #require(await Self.send(devices, at: rig).first)
                guard "\(outcome)".contains("nothing answers") else { break }
                rig.skip(.seconds(20))
            }
            #expect((outcome == .accepted) == isGood, "\(outcome)")
            #expect("\(outcome)".contains("certificate is not trusted") == !isGood, "\(outcome)")
            #expect(rig.heard == (isGood ? 1 : 0))
        }
    }
}
