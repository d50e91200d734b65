import APNsEmulation
import ClarionTesting
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Testing

/// What "accepted means kept" says, on a real process that is really killed.
@Suite(.serialized)
struct KilledServerTests {
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    static let rounds = isLong ? 25 : 12
    static let devices = isLong ? 20_000 : 5_000

    @Test("a server killed at a random moment of a send loses nothing, repeats within the bound and counts each target once")
    func killedDuringSends() async throws {
        let seed = SeededGenerator.newSeed()
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var length = 400_000
        try await TemporaryFolder.use { folder in
            let fleet = try await Fleet(folder: folder, size: Self.devices)
            var cuts = 0
            for round in 1...Self.rounds {
                // Sends get faster from machine to machine; the kill follows the last one's length, so that it strikes within.
                // On a busy machine no such time may be found, so every other kill follows the pushes themselves.
                let isTimed = !round.isMultiple(of: 2)
                let moment: KillMoment =
                    isTimed
                    ? .after(.microseconds(Int.random(in: 0...length, using: &random)))
                    : .pushes(Int.random(in: 1...Self.devices / 2, using: &random))
                let cut = try await killOnce(round: round, at: moment, fleet)
                if cut > 0, cut < Self.devices { cuts += 1 }
                if isTimed {
                    length = cut == 0 ? length * 3 / 2 : cut == Self.devices ? max(20_000, length * 2 / 3) : length
                }
            }
            print("killed in the middle of the pushes: \(cuts) of \(Self.rounds) rounds")
            #expect(cuts > 0, "no kill struck in the middle of the pushes")
            await fleet.apns.shutdown()
        }
    }

    /// One send, one kill, one restart; then everything that was promised is checked. Returns how many pushes APNs had taken
    /// when the server died.
    private func killOnce(round: Int, at moment: KillMoment, _ fleet: Fleet) async throws -> Int {
        let key = "round-\(round)"
        let first = try await ServerProcess(fleet.options)
        async let killing: Void = {
            await moment.wait { fleet.acceptedPushes - Self.devices * (round - 1) }
            first.kill()
        }()
        var request = SendRequest(message: "Hello, fleet")
        request.audience = "fleet"
        // The kill may come before the answer.
        let early = try? await fleet.caller(at: first.address).call(
            "POST", APIRoute.notifications, json: request, headers: ["Idempotency-Key": key])
        await killing
        await first.waitUntilGone()
        let taken = fleet.acceptedPushes - Self.devices * (round - 1)
        let second = try await ServerProcess(fleet.options)
        let answer = try await fleet.send(through: second.address, key: key)
        if let early {
            #expect(early.status == 201, "round \(round): \(String(decoding: early.body, as: UTF8.self))")
            #expect(try early.decoded(SendAnswer.self) == answer, "a 2xx before the kill is the same send after it")
        }
        let status = try await eventually("round \(round) completes") {
            let status = try await fleet.status(of: answer, at: second.address)
            return status.state == "completed" ? status : nil
        }
        #expect(await second.terminate() == 0)
        #expect(status.outcomes == ["accepted": Self.devices], "round \(round): each target counts once")
        let pushes = try fleet.acceptances(of: answer)
        #expect(!pushes.contains(0), "round \(round): every device gets the push")
        let repeats = pushes.reduce(0, +) - Self.devices
        #expect(repeats <= 4 * DispatchSettings().window, "round \(round): \(repeats) repeats")
        return min(taken, Self.devices)
    }
}
