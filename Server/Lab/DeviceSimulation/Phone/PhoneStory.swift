import RichPushModel
import Synchronization

/// The ordered story of a phone and everybody who listens to it. Called from the phone, its app and its extension alike, hence a
/// lock and not an actor: a step has its place in the order when the call returns.
final class PhoneStory: Sendable {
    /// Steps that are kept for late listeners.
    static let limit = 500
    /// Updates that wait for a slow listener; the oldest go, and the sequence numbers show it.
    static let bufferSize = 256

    private struct State {
        var steps: [StoryStep] = []
        var last = 0
        var snapshot: PhoneSnapshot?
        var listeners: [Int: AsyncStream<PhoneUpdate>.Continuation] = [:]
        var nextListener = 0
        /// Whether it was told, since the phone was switched on, that nothing protected can be read.
        var isLockTold = false
    }

    private let phone: String
    private let clock: any ServiceClock
    private let log: StoryFile?
    private let state = Mutex(State())
    /// Listeners that stopped listening. Behind a lock of its own, which nobody holds while he calls out: a listener is told under
    /// the lock of `state` and takes the lock of its task there, and a task that is cancelled holds that lock while it says so here.
    private let gone = Mutex<Set<Int>>([])

    init(phone: String, clock: any ServiceClock, log: StoryFile? = nil) {
        self.log = log
        self.phone = phone
        self.clock = clock
    }

    var steps: [StoryStep] { state.withLock { $0.steps } }

    /// `moment` is when it happened, for what is heard of later; absent means now.
    func tell(
        _ kind: StoryStep.Kind, _ richID: RichID?, _ title: String, _ detail: [String: String] = [:], push: String? = nil,
        at moment: Timestamp? = nil
    ) {
        state.withLock { state in
            state.last += 1
            let step = StoryStep(
                sequence: state.last, at: moment ?? clock.now, phone: phone, richID: richID, push: push,
                step: kind, title: title, detail: detail)
            state.steps.append(step)
            log?.append(step)
            if state.steps.count > Self.limit { state.steps.removeFirst() }
            tell(.story(step), in: &state)
        }
    }

    /// The app or its extension met what is protected before the first unlock. Either does so many times over; it is told once.
    func tellLocked(by role: String) {
        let isNews = state.withLock { state in
            defer { state.isLockTold = true }
            return !state.isLockTold
        }
        guard isNews else { return }
        tell(.held, nil, "Before the first unlock nothing that is protected can be read or kept", ["by": role])
    }

    /// The phone was unlocked, or switched on anew.
    func endLocked() { state.withLock { $0.isLockTold = false } }

    /// Says what the phone looks like, if that is news.
    func show(_ snapshot: PhoneSnapshot) {
        state.withLock { state in
            var known = state.snapshot
            known?.time = snapshot.time
            guard known != snapshot else { return }
            state.snapshot = snapshot
            tell(.snapshot(snapshot), in: &state)
        }
    }

    /// Tells those who still listen, in the order of what happened.
    private func tell(_ update: PhoneUpdate, in state: inout State) {
        let gone = gone.withLock { gone in
            defer { gone = [] }
            return gone
        }
        for id in gone { state.listeners[id] = nil }
        for listener in state.listeners.values { listener.yield(update) }
    }

    /// What happens from now on, beginning with what the phone looks like.
    func updates() -> AsyncStream<PhoneUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PhoneUpdate.self, bufferingPolicy: .bufferingNewest(Self.bufferSize))
        let id = state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            if let snapshot = state.snapshot { continuation.yield(.snapshot(snapshot)) }
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.gone.withLock { $0.insert(id) }
        }
        return stream
    }

    /// Ends every listener's stream.
    func end() {
        // Outside the lock, because ending a stream calls its reader.
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
