import NIOConcurrencyHelpers
import PushHub
import RichPushModel

/// A push transport that answers as a test says, and remembers what it was given.
public final class ScriptedTransport: PushTransport {
    /// Says what becomes of a push; the number counts the pushes to that handle from 1.
    public typealias Script = @Sendable (_ target: PushBatch.Target, _ attempt: Int) -> PushOutcome

    private struct State {
        var script: Script
        var batches: [PushBatch] = []
        var attempts: [DeviceToken: Int] = [:]
        var outcomes: [DeviceToken: [PushOutcome]] = [:]
        var beforeAnswer: (@Sendable (PushBatch) async -> Void)?
        var whilePreparing: (@Sendable () -> Void)?
    }

    private let state: NIOLockedValueBox<State>

    /// Creates a transport; without a script everything is accepted.
    public init(_ script: @escaping Script = { _, _ in .accepted }) { state = NIOLockedValueBox(State(script: script)) }

    /// The batches so far.
    public var batches: [PushBatch] { state.withLockedValue { $0.batches } }

    /// Every outcome so far, by handle.
    public var outcomes: [DeviceToken: [PushOutcome]] { state.withLockedValue { $0.outcomes } }

    /// How many pushes were answered with that outcome.
    public func count(_ outcome: PushOutcome) -> Int { outcomes.values.reduce(0) { $0 + $1.count { $0 == outcome } } }

    /// Answers otherwise from now on.
    public func follow(_ script: @escaping Script) { state.withLockedValue { $0.script = script } }

    /// Runs before each batch is answered, after it was remembered.
    public func beforeAnswer(_ body: @escaping @Sendable () async -> Void) { beforeAnswering { _ in await body() } }

    /// The same, for who wants to know which batch it is.
    public func beforeAnswering(_ body: @escaping @Sendable (PushBatch) async -> Void) {
        state.withLockedValue { $0.beforeAnswer = body }
    }

    /// Runs once, while the transport gets ready.
    public func whilePreparing(_ body: @escaping @Sendable () -> Void) { state.withLockedValue { $0.whilePreparing = body } }

    public func prepare(for hub: HubID, on platform: Platform) async {
        let hook = state.withLockedValue { state in
            defer { state.whilePreparing = nil }
            return state.whilePreparing
        }
        hook?()
    }

    public func send(_ batch: PushBatch) async -> PushOutcomes {
        let hook = state.withLockedValue { state in
            state.batches.append(batch)
            return state.beforeAnswer
        }
        await hook?(batch)
        return state.withLockedValue { state in PushOutcomes(batch.targets.map { Self.answer($0, &state) }) }
    }

    private static func answer(_ target: PushBatch.Target, _ state: inout State) -> PushOutcome {
        state.attempts[target.handle, default: 0] += 1
        let outcome = state.script(target, state.attempts[target.handle] ?? 0)
        state.outcomes[target.handle, default: []].append(outcome)
        return outcome
    }
}
