import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import Testing

/// One promise of the push-transport port, as a check that runs on any transport.
struct TransportPromise: Sendable, CustomTestStringConvertible {
    /// The promise as a statement.
    let name: String
    let terms: RigTerms
    /// Records an issue, or throws, when the promise is broken. Each check has a rig of its own.
    let check: @Sendable (any TransportRig) async throws -> Void

    init(_ name: String, _ terms: RigTerms = RigTerms(), _ check: @escaping @Sendable (any TransportRig) async throws -> Void) {
        (self.name, self.terms, self.check) = (name, terms, check)
    }

    var testDescription: String { name }
}

/// What a `PushTransport` promises.
enum TransportPromises {
    /// Every promise.
    static let all: [TransportPromise] = [
        answersEach, refusesLargeBodies, refusesGaps, putsOff(.tooMany), putsOff(.overload), putsOff(.serverError),
        leavesOpen(.lostAnswer), leavesOpen(.cutOff), movesOn, goesThroughTrouble, waitsForTheOperator, waitsForTheService,
        keepsTheDeadline, endsWithItsTask, endsInOrder,
    ]

    /// What a busy service asks to wait.
    static let pause: Duration = .seconds(33)

    static func batch(_ devices: [DeviceToken], at rig: any TransportRig) -> PushBatch {
        var batch = PushBatch(
            hub: HubID(1), bodies: [rig.body("hello")], headers: [.init(pushType: "alert", priority: 10)],
            targets: devices.map { .init(handle: $0, pushID: PushID(UUID())) })
        batch.platform = rig.platform
        return batch
    }

    /// Sends, and compares what the transport says of each push with what the service took. A busy service may take late what was given up
    /// as unknown before, so devices that are `doubtful` are not compared.
    @discardableResult
    private static func send(
        _ devices: [DeviceToken], at rig: any TransportRig, doubtful: Set<DeviceToken> = [],
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> [PushOutcome] {
        let before = rig.taken(by: devices)
        let outcomes = Array(await rig.transport.send(batch(devices, at: rig)))
        try #require(outcomes.count == devices.count, sourceLocation: location)
        let taken = zip(rig.taken(by: devices), before).map { $0 - $1 }
        let wrong = devices.indices.filter { !doubtful.contains(devices[$0]) && !outcomes[$0].agrees(taken: taken[$0]) }
        #expect(wrong.isEmpty, "\(wrong.map { (outcomes[$0], taken[$0]) })", sourceLocation: location)
        let isSaid = zip(devices, outcomes).contains { "\($1)".contains($0.text) }
        #expect(!isSaid, "an outcome holds a device token", sourceLocation: location)
        return outcomes
    }

    // MARK: Each target

    private static let answersEach = TransportPromise(
        "each target has its own outcome at its own place, dead and strange tokens among them, in two batches at once"
    ) { rig in
        var random = SeededGenerator()
        print("seed \(random.seed)")
        var devices = try await rig.devices(80)
        let dead = Set(devices.shuffled(using: &random).prefix(10))
        for device in dead { try rig.remove(device) }
        for _ in 0..<5 { devices.insert(rig.strangeToken, at: .random(in: 0...devices.count, using: &random)) }
        let halves = [devices[..<40], devices[40...]].map(Array.init)
        async let first = send(halves[0], at: rig)
        async let second = send(halves[1], at: rig)
        for (outcome, device) in zip(try await first + second, devices) {
            if dead.contains(device) {
                #expect(outcome.isGone)
            } else {
                #expect(outcome == (device == rig.strangeToken ? .badToken : .accepted))
            }
        }
        #expect(try await send([], at: rig).isEmpty)
    }

    private static let refusesLargeBodies = TransportPromise("a body that is too large is refused for its own targets alone") {
        rig in
        let devices = try await rig.devices(4)
        var batch = batch(devices, at: rig)
        batch.bodies.append(rig.body(String(repeating: "x", count: 5_000)))
        batch.targets = PushTargets(
            devices.enumerated().map { .init(handle: $1, body: $0 % 2, pushID: PushID(UUID())) })
        #expect(Array(await rig.transport.send(batch)) == [.accepted, .tooLarge, .accepted, .tooLarge])
        #expect(rig.taken(by: devices) == [1, 0, 1, 0])
    }

    private static let refusesGaps = TransportPromise("a body or header set that the batch lacks is refused for its target alone")
    {
        rig in
        let devices = try await rig.devices(3)
        var batch = batch(devices, at: rig)
        batch.targets = PushTargets([
            .init(handle: devices[0], body: 7, pushID: PushID(UUID())), .init(handle: devices[1], pushID: PushID(UUID())),
            .init(handle: devices[2], headers: 7, pushID: PushID(UUID())),
        ])
        let outcomes = Array(await rig.transport.send(batch))
        #expect(outcomes.map { if case .rejected = $0 { true } else { false } } == [true, false, true])
        #expect(rig.taken(by: devices) == [0, 1, 0])
    }

    // MARK: Refusals for now

    private static func putsOff(_ trouble: TransportTrouble) -> TransportPromise {
        let pause = trouble == .serverError ? .zero : pause
        return TransportPromise("\(trouble): what is refused for now is tried again, not earlier than the service says") { rig in
            let devices = try await rig.devices(20)
            #expect(rig.plan(trouble, times: 2, after: 5))
            let began = ContinuousClock.now
            let outcomes = try await send(devices, at: rig)
            let lasted = ContinuousClock.now - began
            #expect(outcomes.count { $0 == .accepted } == 18, "\(outcomes)")
            let pauses = outcomes.compactMap(\.pause)
            #expect(pauses.count == 2 && pauses.allSatisfy { $0 > .zero && $0 + lasted >= pause }, "\(pauses)")
        }
    }

    // MARK: Connections that end

    private static func leavesOpen(_ trouble: TransportTrouble) -> TransportPromise {
        TransportPromise("\(trouble): a push without an answer is unknown, and the next batch goes on") { rig in
            #expect(rig.plan(trouble, times: 1, after: 10))
            let outcomes = try await send(rig.devices(40), at: rig)
            #expect(outcomes.contains { $0.isUnknown })
            #expect(outcomes.allSatisfy { $0 == .accepted || $0.isUnknown || $0.isPutOff }, "\(outcomes)")
            #expect(try await send(rig.devices(10), at: rig).allSatisfy { $0 == .accepted })
        }
    }

    private static let movesOn = TransportPromise("a connection that ends in order costs no push, and repeats none") { rig in
        // HTTP/1.1 has no such end.
        guard rig.plan(.orderlyEnd, times: 1, after: 10) else { return }
        let outcomes = try await send(rig.devices(60), at: rig)
        #expect(outcomes.allSatisfy { $0 == .accepted }, "\(outcomes)")
    }

    private static let goesThroughTrouble = TransportPromise(
        "through refusals and broken connections each device gets its push, and again only where an answer was lost"
    ) { rig in
        var random = SeededGenerator()
        print("seed \(random.seed)")
        let devices = try await rig.devices(150)
        var rest = devices
        var unknown: [DeviceToken: Int] = [:]
        for round in 0..<50 where !rest.isEmpty {
            for trouble in [TransportTrouble.tooMany, .lostAnswer, .cutOff].shuffled(using: &random) where round < 5 {
                _ = rig.plan(trouble, times: .random(in: 0...2, using: &random), after: .random(in: 0...30, using: &random))
            }
            let outcomes = try await send(rest, at: rig, doubtful: Set(unknown.keys))
            #expect(outcomes.allSatisfy { $0 == .accepted || $0.isUnknown || $0.isPutOff }, "\(outcomes)")
            for (device, outcome) in zip(rest, outcomes) where outcome.isUnknown { unknown[device, default: 0] += 1 }
            rest = zip(rest, outcomes).filter { $1 != .accepted }.map(\.0)
            let waiting = Set(rest)
            for (device, taken) in zip(devices, rig.taken(by: devices)) {
                #expect(taken <= unknown[device, default: 0] + (waiting.contains(device) ? 0 : 1), "round \(round)")
            }
            rig.skip(.seconds(20))
        }
        #expect(rest.isEmpty)
        for (device, taken) in zip(devices, rig.taken(by: devices)) {
            #expect((1...1 + unknown[device, default: 0]).contains(taken))
        }
    }

    // MARK: All targets

    private static let waitsForTheOperator = TransportPromise(
        "a credential that the service refuses stops for the operator and condemns no token", RigTerms(isCredentialGood: false)
    ) { rig in
        let outcomes = try await send(rig.devices(30), at: rig)
        #expect(outcomes.allSatisfy { $0.isMisconfigured }, "\(outcomes)")
    }

    private static let waitsForTheService = TransportPromise(
        "where nothing listens no push has left, and all are tried again", RigTerms(deadline: .seconds(3))
    ) { rig in
        let devices = try await rig.devices(5)
        try await rig.endService()
        let outcomes = Array(await rig.transport.send(batch(devices, at: rig)))
        #expect(outcomes.count == 5 && outcomes.allSatisfy(\.isPutOff), "\(outcomes)")
    }

    private static let keepsTheDeadline = TransportPromise(
        "a service that answers nothing gets a bounded number of pushes and costs one deadline; what has not left is not unknown",
        RigTerms(deadline: .seconds(4))
    ) { rig in
        let devices = try await rig.devices(rig.width + 50)
        try await rig.silence()
        let began = ContinuousClock.now
        let outcomes = Array(await rig.transport.send(batch(devices, at: rig)))
        #expect(ContinuousClock.now - began < .seconds(40))
        #expect(outcomes.count == devices.count && outcomes.allSatisfy { $0.isUnknown || $0.isPutOff }, "\(outcomes)")
        let unknown = outcomes.count(where: \.isUnknown)
        // The last of them may still be on their way.
        #expect(await eventually { rig.heard >= unknown }, "\(unknown) unknown, \(rig.heard) heard")
        #expect((1...rig.width).contains(rig.heard))
    }

    private static let endsWithItsTask = TransportPromise(
        "a task that is cancelled has its outcomes long before the deadline", RigTerms(deadline: .seconds(300))
    ) { rig in
        let devices = try await rig.devices(20)
        try await rig.silence()
        let batch = batch(devices, at: rig)
        let sending = Task { Array(await rig.transport.send(batch)) }
        #expect(await eventually { rig.heard > 0 })
        let cancelled = ContinuousClock.now
        sending.cancel()
        let outcomes = await sending.value
        #expect(ContinuousClock.now - cancelled < .seconds(60))
        #expect(outcomes.count == 20 && outcomes.allSatisfy { $0.isUnknown || $0.isPutOff }, "\(outcomes)")
    }

    private static let endsInOrder = TransportPromise(
        "a client that is closed leaves no target without an outcome, and later pushes do not leave",
        RigTerms(deadline: .seconds(300))
    ) { rig in
        let (devices, others) = (try await rig.devices(40), try await rig.devices(3))
        rig.slowDown()
        async let sending = send(devices, at: rig)
        #expect(await eventually { rig.heard > 0 })
        let closed = ContinuousClock.now
        await rig.close()
        let outcomes = try await sending
        #expect(ContinuousClock.now - closed < .seconds(60))
        #expect(outcomes.allSatisfy { $0 == .accepted || $0.isUnknown || $0.isPutOff }, "\(outcomes)")
        #expect(try await send(others, at: rig).allSatisfy(\.isPutOff))
    }
}
