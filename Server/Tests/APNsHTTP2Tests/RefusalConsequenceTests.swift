import APNsProtocol
import Foundation
import NIOCore
import Testing

@testable import APNsHTTP2

/// Row by row what the table of Reference/APNs.md#4 asks of the client beside ending the push.
@Suite("Refusals that concern more than their push")
struct RefusalConsequenceTests {
    private func rejected(_ status: Int, _ reason: String) -> APNsOutcome {
        .rejected(APNsRejection(status: status, reason: APNsReason(rawValue: reason)))
    }

    @Test(
        "503 to three pushes in a row: this connection is left, the next one waits, and the pushes are refused",
        arguments: ["ServiceUnavailable", "Service Unavailable", "", "NewReason"])
    func unavailable(reason: String) throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(4)
        for stream: UInt32 in [3, 5, 7] { try link.say(.refusal(stream, 503, reason)) }
        #expect(submission.outcomeList.prefix(3).allSatisfy { $0 == rejected(503, reason) })
        let next = rig.submit(1)
        // What was under way there is still answered.
        #expect(link.channel.isActive)
        #expect(rig.links.count == 1)
        try link.say(.success(9))
        #expect(submission.outcome(3)?.isAccepted == true)
        #expect(!link.channel.isActive)
        rig.advance(.milliseconds(999))
        #expect(rig.links.count == 1)
        rig.advance(.milliseconds(1))
        #expect(rig.links.count == 2)
        try rig.links[1].say(.streamLimit(1000))
        try rig.links[1].say(.success(1))
        #expect(next.outcome(0)?.isAccepted == true)
        #expect(rig.metrics.resends == 0)
    }

    @Test("a push that is answered 503 each time takes the connection away from no other push")
    func loneUnavailable() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        var bad = Pushes.push()
        bad.apnsID = UUID()
        for number in 0..<10 {
            let submission = rig.submit([bad])
            try link.say(.refusal(UInt32(3 + 2 * number), 503, "ServiceUnavailable"))
            #expect(submission.outcome(0) == rejected(503, "ServiceUnavailable"))
        }
        let good = rig.submit(1)
        try link.say(.success(23))
        #expect(good.outcome(0)?.isAccepted == true)
        #expect(link.channel.isActive)
        #expect(rig.links.count == 1)
    }

    @Test("a push that expires in the pause after 503 reports that, and not that a connection was closed")
    func trueReason() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        _ = rig.submit(3)
        for stream: UInt32 in [3, 5, 7] { try link.say(.refusal(stream, 503, "ServiceUnavailable")) }
        let late = rig.submit([Pushes.push()], deadline: .milliseconds(500))
        rig.advance(.milliseconds(800))
        #expect(late.outcome(0) == .notSent(.serviceUnavailable))
    }

    @Test("503 on one connection after another: each waits longer than the one before, and no longer than three seconds")
    func backOff() throws {
        let rig = try PoolRig()
        _ = try rig.warmLink()
        var waits: [Int] = []
        for _ in 0..<4 {
            let link = try #require(rig.links.last)
            for number in 0..<APNsPoolState.unavailableRun {
                let submission = rig.submit(1)
                if rig.links.count > 1, number == 0 { try link.say(.streamLimit(1000)) }
                try link.exchange()
                let stream = try #require(link.server.takeRequests().last?.stream)
                try link.say(.refusal(stream, 503, "ServiceUnavailable"))
                #expect(submission.outcome(0) == rejected(503, "ServiceUnavailable"))
            }
            let known = rig.links.count
            let waiting = rig.submit([Pushes.push()], deadline: .minutes(5))
            var seconds = 0
            while rig.links.count == known, seconds < 60 {
                rig.advance(.seconds(1))
                seconds += 1
            }
            rig.pool.cancel(waiting)
            rig.loop.run()
            waits.append(seconds)
        }
        #expect(waits == [1, 2, 3, 3])
    }

    @Test(
        "the connection is at its end: a new one at once, and the push once more there",
        arguments: [(503, "Shutdown"), (400, "IdleTimeout"), (403, "UnrelatedKeyIdInToken")])
    func moveOn(status: Int, reason: String) throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(3)
        rig.advance(.seconds(1))
        try link.say(.refusal(3, status, reason))
        #expect(submission.outcome(0) == nil)
        #expect(rig.links.count == 2)
        // The others are still answered where they are.
        try link.say(.success(5), .success(7))
        #expect(!link.channel.isActive)
        let next = rig.links[1]
        try next.say(.streamLimit(1000))
        try next.exchange()
        #expect(next.server.takeRequests().count == 1)
        // Once, and no more: the second time it is handed on, and the next connection waits.
        try next.say(.refusal(1, status, reason))
        #expect(submission.outcome(0) == rejected(status, reason))
        #expect(submission.outcome(1)?.isAccepted == true)
        #expect(submission.outcome(2)?.isAccepted == true)
        _ = rig.submit(1)
        rig.advance(.milliseconds(500))
        #expect(rig.metrics.resends == 1)
        #expect(rig.links.count == 2)
    }

    @Test(
        "the credential is refused: one push asks, the others end unsent, no connection is kept, and none is made for a minute",
        arguments: [
            "BadCertificate", "BadCertificateEnvironment", "InvalidProviderToken", "MissingProviderToken",
            "BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken",
        ])
    func closePool(reason: String) throws {
        let rig = try PoolRig()
        let submission = rig.submit(5000)
        let link = rig.links[0]
        try link.say(.streamLimit(1000))
        try link.say(.refusal(1, 403, reason))
        #expect(submission.outcome(0) == rejected(403, reason))
        #expect(submission.outcomeList.dropFirst().allSatisfy { $0 == .notSent(.credentialRefused) })
        #expect(!link.channel.isActive)
        #expect(rig.metrics.requests == 1)
        rig.advance(.seconds(59))
        #expect(rig.submit(1).outcome(0) == .notSent(.credentialRefused))
        #expect(rig.links.count == 1)
        rig.advance(.seconds(1))
        _ = rig.submit(1)
        #expect(rig.links.count == 2)
    }

    @Test("a refused credential ends the use of all connections, and what is under way there is still answered")
    func closesAll() throws {
        let rig = try PoolRig(limits: APNsClientLimits(connections: 2))
        let link = try rig.warmLink(streamLimit: 1)
        let submission = rig.submit(3)
        rig.advance(.milliseconds(100))
        let other = rig.links[1]
        try other.say(.streamLimit(1))
        try link.say(.refusal(3, 403, "BadCertificate"))
        #expect(other.channel.isActive)
        #expect(rig.metrics.draining == 1)
        try other.say(.success(1))
        #expect(!other.channel.isActive)
        let outcomes = submission.outcomeList
        #expect(outcomes.count { $0 == rejected(403, "BadCertificate") } == 1)
        #expect(outcomes.count { $0?.isAccepted == true } == 1)
        #expect(outcomes.count { $0 == .notSent(.credentialRefused) } == 1)
    }

    @Test(
        "a refusal of one push changes nothing for the connection",
        arguments: [
            (400, "BadDeviceToken"), (400, "BadTopic"), (400, "TopicDisallowed"), (400, "DeviceTokenNotForTopic"),
            (400, "NewReason"), (403, "TopicMismatch"), (403, "Forbidden"), (404, "BadPath"), (410, "Unregistered"),
            (413, "PayloadTooLarge"),
            (429, "TooManyRequests"), (500, "InternalServerError"),
        ])
    func onlyThePush(status: Int, reason: String) throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(1)
        try link.say(.refusal(3, status, reason))
        #expect(submission.outcome(0) == rejected(status, reason))
        let next = rig.submit(1)
        try link.say(.success(5))
        #expect(next.outcome(0)?.isAccepted == true)
        #expect(link.channel.isActive)
        #expect(rig.links.count == 1)
        #expect(rig.metrics.resends == 0)
    }
}
