import APNsEmulation
import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import Testing

@testable import HubProtocol

extension NodesCrashTests {
    private static let devices = TroubledNodes.isLong ? 40_000 : 12_000

    /// Devices of whose tokens APNs says that they are dead, by their number in the fleet.
    private struct Dead {
        /// They are gone.
        var gone: [Int] = []
        /// The same, but they come back while the send is under way.
        var back: [Int] = []
        /// They have registered after the moment that APNs names.
        var alive: [Int] = []
    }

    @Test("a dead token counts once, goes if it did not register since, and gets nothing again, whatever breaks meanwhile")
    func deadTokens() async throws {
        try await TroubledNodes.run(devices: Self.devices) { nodes in
            let dead = invalidate(nodes)
            let first = try await nodes.send(key: "first") { $0.pushesPerSecond = Self.devices / 3 }
            var returning = dead.back[...]
            for number in 1...(TroubledNodes.isLong ? 8 : 3) {
                if number == 2 { try await nodes.restartDatabase() }
                try await nodes.happen(wait: 400, length: 1_200)
                for device in returning.prefix(20) { try await register(device, nodes) }
                returning = returning.dropFirst(20)
            }
            for device in returning { try await register(device, nodes) }
            let telemetry = try await nodes.ended(first)
            print("\(telemetry.outcomes), \(nodes.log)")
            let (gone, rejected) = (telemetry.outcomes[.gone] ?? 0, telemetry.outcomes[.rejected] ?? 0)
            #expect(telemetry.outcomes[.accepted] == Self.devices - dead.gone.count - dead.back.count - dead.alive.count)
            #expect(gone + rejected == dead.gone.count + dead.back.count + dead.alive.count, "each counts once; \(nodes.log)")
            #expect(gone >= dead.gone.count && rejected >= dead.alive.count, "\(telemetry.outcomes)")
            try await checkRecords(dead, nodes)
            try await checkNext(dead, nodes)
        }
    }

    /// The dead ones among the fleet, as APNs and the hub know them.
    private func invalidate(_ nodes: TroubledNodes) -> Dead {
        var dead = Dead()
        for device in nodes.fleet.records.indices {
            switch Int.random(in: 0..<100, using: &nodes.random) {
            case 0..<8: dead.gone.append(device)
            case 8: dead.back.append(device)
            case 9: dead.alive.append(device)
            default: continue
            }
        }
        // By now every device has been registered for at least a moment, and none for an hour.
        let now = SystemClock().now
        for device in dead.gone + dead.back { declareDead(device, since: now, nodes) }
        for device in dead.alive { declareDead(device, since: now - .seconds(3_600), nodes) }
        return dead
    }

    private func declareDead(_ device: Int, since moment: Timestamp, _ nodes: TroubledNodes) {
        nodes.fleet.apns.invalidate(token: nodes.fleet.tokens[device], reason: .unregistered, at: moment)
    }

    /// The app on a device is started again, as it does from time to time.
    private func register(_ device: Int, _ nodes: TroubledNodes) async throws {
        let document = InstallationDocument(
            installationID: nodes.fleet.records[device].text, platform: .apns,
            pushChannel: .handle(nodes.fleet.tokens[device]), tags: ["fleet"])
        _ = try await eventually("a node registers it") {
            try? await nodes.withHub { hub in
                try await hub.putInstallation(document)
                return true
            }
        }
    }

    private func checkRecords(_ dead: Dead, _ nodes: TroubledNodes) async throws {
        let script = "\\connect \(nodes.database)\nSELECT record_id FROM devices;"
        let stored = Set(try await nodes.server.run(script: script).split(separator: "\n").map(String.init))
        let gone = Set(dead.gone.map { nodes.fleet.records[$0].text })
        #expect(stored.intersection(gone).count == 0, "who is gone is forgotten; \(nodes.log)")
        #expect(stored.count == Self.devices - gone.count, "and no other device; \(nodes.log)")
    }

    private func checkNext(_ dead: Dead, _ nodes: TroubledNodes) async throws {
        let requests = { dead.gone.map { nodes.fleet.apns.requests(for: nodes.fleet.tokens[$0]).requests } }
        let before = requests()
        #expect(!before.contains(0), "each was tried")
        let survivors = dead.back.count + dead.alive.count
        let next = try await nodes.ended(try await nodes.send(key: "next"))
        #expect(next.state == .completed)
        #expect(next.outcomes == [.accepted: Self.devices - dead.gone.count - survivors, .rejected: survivors])
        #expect(requests().reduce(0, +) == before.reduce(0, +), "a dead token gets nothing again")
    }
}
