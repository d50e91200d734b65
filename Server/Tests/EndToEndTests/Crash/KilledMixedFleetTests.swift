import ClarionTesting
import FCMEmulation
import Foundation
import PushHub
import RichPushModel
import Testing

@testable import ServerStorage

/// One send to iPhones and Android phones, by a real process that is really killed.
@Suite(.serialized)
struct KilledMixedFleetTests {
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    private static let rounds = isLong ? 20 : 5
    private static let devices = isLong ? 5_000 : 500

    @Test("a server killed in a send to both kinds of phones loses nothing at either, and repeats within the bound")
    func killed() async throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        try await TemporaryFolder.use { folder in
            let android = try await AndroidFleet(folder: folder, size: Self.devices)
            let fleet = try await Fleet(folder: folder, size: Self.devices, shared: android.environment)
            try await android.register(at: fleet)
            var (round, cuts) = (0, 0)
            // A kill that comes too early or too late proves little, so there are more rounds until one has struck.
            while round < Self.rounds || (cuts == 0 && round < 4 * Self.rounds) {
                round += 1
                let moment: KillMoment =
                    round.isMultiple(of: 2)
                    ? .pushes(Int.random(in: 1...Self.devices, using: &random))
                    : .after(.milliseconds(Int.random(in: 0...1_500, using: &random)))
                let taken = try await killOnce(round, at: moment, fleet, android)
                if taken > 0, taken < 2 * Self.devices { cuts += 1 }
            }
            print("killed in the middle of the pushes: \(cuts) of \(round) rounds")
            #expect(cuts > 0, "no kill struck in the middle of the pushes")
            await fleet.apns.shutdown()
            await android.fcm.shutdown()
        }
    }

    /// One send, one kill, one restart; then both kinds have it. Returns how many pushes were taken when the server died.
    private func killOnce(
        _ round: Int, at moment: KillMoment, _ fleet: Fleet, _ android: AndroidFleet
    ) async throws -> Int {
        android.fcm.clearRecorder()
        let key = "round-\(round)"
        let first = try await ServerProcess(fleet.options)
        _ = try await fleet.send(through: first.address, key: key)
        let before = Self.devices * (round - 1)
        await moment.wait { fleet.acceptedPushes - before + android.messages.count }
        first.kill()
        await first.waitUntilGone()
        let taken = fleet.acceptedPushes - before + android.messages.count
        let second = try await ServerProcess(fleet.options)
        let answer = try await fleet.send(through: second.address, key: key)
        let status = try await eventually("round \(round) completes") {
            let status = try await fleet.status(of: answer, at: second.address)
            return status.state == "completed" ? status : nil
        }
        #expect(await second.terminate() == 0)
        #expect(status.outcomes == ["accepted": 2 * Self.devices], "round \(round): each target counts once")
        #expect(try !fleet.acceptances(of: answer).contains(0), "round \(round): every iPhone gets the push")
        let counts = android.messages.reduce(into: [:]) { counts, device in counts[device, default: 0] += 1 }
        #expect(counts.count == Self.devices, "round \(round): every Android phone gets the message")
        let repeats = counts.values.reduce(0, +) - Self.devices
        #expect(repeats <= 4 * DispatchSettings().window, "round \(round): \(repeats) repeats")
        return min(taken, 2 * Self.devices)
    }
}

/// Android phones at a local FCM.
private struct AndroidFleet {
    private let place: AndroidPlace
    private let phones: [SimulatedAndroid]

    init(folder: String, size: Int) async throws {
        let place = try await AndroidPlace(in: folder, records: 4 * size + 10_000)
        phones = try (0..<size).map { try place.phone("android-\($0)") }
        self.place = place
    }

    var fcm: LocalFCM { place.fcm }

    /// What a server needs to reach it.
    var environment: [String: String] { place.environment.merging(["CLARION_FCM_KEY": place.keyFile]) { $1 } }

    /// The phone of each message that an app has got since the recorder was cleared.
    var messages: [String] { place.messages.map(\.phone) }

    /// Registers every phone with the tag of the fleet.
    func register(at fleet: Fleet) async throws {
        let storage = try await NodeStorage.open(try fleet.options.settings(), access: .command, clock: .system)
        defer { try? storage.database.close() }
        let tag = try #require(Tag("fleet"))
        for phone in phones {
            let token = try #require(phone.token)
            let handle = try #require(DeviceToken(token, platform: .fcmv1))
            let upsert = DeviceUpsert(
                id: try #require(RecordID(phone.name)), kind: .installation, platform: .fcmv1, handle: handle, tags: [tag])
            _ = try await storage.hubStores.devices.upsert(upsert, in: storage.hub, at: SystemClock().now)
        }
    }
}
