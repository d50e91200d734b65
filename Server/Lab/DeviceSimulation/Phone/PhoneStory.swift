import RichPushDevice
import RichPushModel
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The ordered story of a phone and its listeners. The phone, its app and its extension call it. A lock and not an actor, so that a
/// step has its place in the order when the call returns.
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
        /// Whether it was recorded since the start of the phone that protected data cannot be read.
        var isLockRecorded = false
    }

    private let phone: String
    private let clock: any ServiceClock
    private let log: StoryFile?
    private let state = Mutex(State())
    /// Listeners that stopped listening. Separate lock: `onTermination` runs under the task's lock, which `yield` takes under the
    /// lock of `state`; one lock would deadlock.
    private let gone = Mutex<Set<Int>>([])

    init(phone: String, clock: any ServiceClock, log: StoryFile? = nil) {
        self.log = log
        self.phone = phone
        self.clock = clock
    }

    var steps: [StoryStep] { state.withLock { $0.steps } }

    /// `moment` is when it happened, for steps that are recorded later; absent means now.
    func record(
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
            notify(.story(step), in: &state)
        }
    }

    /// The app or its extension met protected data before the first unlock. That happens many times; it is recorded once.
    func recordLocked(by role: String) {
        let isNews = state.withLock { state in
            defer { state.isLockRecorded = true }
            return !state.isLockRecorded
        }
        guard isNews else { return }
        record(.held, nil, "Before the first unlock nothing that is protected can be read or kept", ["by": role])
    }

    /// The phone was unlocked, or switched on anew.
    func endLocked() { state.withLock { $0.isLockRecorded = false } }

    /// Publishes the snapshot if it has changed.
    func show(_ snapshot: PhoneSnapshot) {
        state.withLock { state in
            var known = state.snapshot
            known?.time = snapshot.time
            guard known != snapshot else { return }
            state.snapshot = snapshot
            notify(.snapshot(snapshot), in: &state)
        }
    }

    /// Notifies the remaining listeners, in the order of events.
    private func notify(_ update: PhoneUpdate, in state: inout State) {
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

/// Records the events of an engine as steps of the phone's story.
struct StoryEventLog: EventLog {
    /// The process that the engine runs in.
    enum Role: String {
        case app, serviceExtension = "service extension"
    }

    /// As the engine says it.
    private static let foreign = "another-user"
    private static let locked = "\(StorageError.locked)"

    let story: PhoneStory
    let role: Role
    /// A session began, ended or was refused, perhaps without a call of the user.
    var sessionChanged: (@Sendable () -> Void)?

    func record(_ event: DeviceEvent) {
        if [.signedIn, .signInFailed, .signedOut, .rejected].contains(event.kind) { sessionChanged?() }
        if event.kind == .storageFailed, event.detail["reason"] == Self.locked { return story.recordLocked(by: role.rawValue) }
        guard let (kind, title) = step(for: event) else { return }
        var detail = event.detail
        detail["by"] = role.rawValue
        story.record(kind, event.richID, title, detail)
    }

    /// Says which of the receipts of a push the server has.
    private func receiptTitle(_ kind: String?) -> String {
        switch kind.flatMap(Receipt.Kind.init(rawValue:)) {
        case .delivered: "The server knows that the push was delivered"
        case .fetched: "The server knows that the content was fetched"
        case .opened: "The server knows that the user opened it"
        case .action: "The server knows which action the user chose"
        case .dismissed: "The server knows that the user dismissed it"
        case .failed: "The server knows that the content was not shown"
        case nil: "The server has a receipt"
        }
    }

    private func step(for event: DeviceEvent) -> (StoryStep.Kind, String)? {
        switch event.kind {
        case .fetched: (.fetched, "The content arrived; size, hash and type are right")
        case .fetchFailed: (.failed, "The content could not be fetched")
        case .presented: (.shown, "The app showed a local notification")
        case .presentFailed: (.failed, "The notification could not be shown")
        case .ignored where event.detail["reason"] == Self.foreign,
            .unchanged where event.detail["reason"] == Self.foreign:
            (.held, "The push says that it is for another user; nothing is fetched")
        case .unchanged: (.failed, "The service extension left the push as it was")
        case .offered: (.shown, "The app asks OK / More")
        case .opened: (.opened, "The user opened it")
        case .dismissed: (.dismissed, "The user dismissed it")
        case .receiptsSent: (.receipt, receiptTitle(event.detail["kind"]))
        case .undelivered: (.failed, "The user signed out, and this did not reach the server before")
        case .ignored: (.held, "The app ignored the push")
        case .repeated: (.held, "A duplicate: nothing is shown twice")
        case .storageFailed: (.failed, "Something could not be kept on the phone")
        case .tagsRefused: (.failed, "The server refused the phone's tags; it has those that were taken before")
        case .rejected: (.failed, "The server refuses the app's credential; the user must sign in again")
        case .signInFailed: (.failed, "The sign-in that waited for the server failed; the user must sign in again")
        case .signedIn, .signedOut, .registered, .registrationFailed, .enriched, .sent, .arrived: nil
        }
    }
}

/// The story as a file of JSON lines. A step that cannot be written is left out: a log never stops a phone.
final class StoryFile: Sendable {
    /// The file begins anew when it would become larger; one before it is kept beside it.
    static let limit = 16 << 20

    private let file: URL
    private let size: Mutex<Int>

    init(_ file: URL) {
        self.file = file
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        size = Mutex((attributes?[.size] as? Int) ?? 0)
    }

    func append(_ step: StoryStep) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(step) + Data("\n".utf8) else { return }
        size.withLock { size in
            if size + line.count > Self.limit {
                let before = file.appendingPathExtension("before")
                try? FileManager.default.removeItem(at: before)
                try? FileManager.default.moveItem(at: file, to: before)
                size = 0
            }
            guard let handle = fopen(file.path, "ae") else { return }
            defer { fclose(handle) }
            size += line.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, handle) }
        }
    }
}
