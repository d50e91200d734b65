import DeviceSimulation
import Foundation
import RichPushModel
import SimulatedPhonePage

/// A phone that shows what a test tells it to, and remembers what was done to it.
actor ScriptedPhone: PagePhone {
    let identity: PhoneSnapshot.Identity
    private(set) var actions: [PhoneAction] = []
    private(set) var listenerCount = 0
    private var steps: [StoryStep] = []
    private var shown: PhoneSnapshot
    private var files: [RichID: PhoneMedia] = [:]
    private var refusal: PhoneActionError?
    private var listeners: [AsyncStream<PhoneUpdate>.Continuation] = []

    init(id: String = "p1", name: String = "First phone") {
        identity = .init(id: id, name: name, model: "iPhone")
        shown = PhoneSnapshot(phone: identity, time: Timestamp(seconds: 1_800_000_000))
    }

    func snapshot() -> PhoneSnapshot { shown }

    func updates() -> AsyncStream<PhoneUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: PhoneUpdate.self)
        listeners.append(continuation)
        listenerCount += 1
        return stream
    }

    func story(after sequence: Int) -> [StoryStep] { steps.filter { $0.sequence > sequence } }

    func perform(_ action: PhoneAction) throws {
        if let refusal { throw refusal }
        actions.append(action)
    }

    func media(for richID: RichID) -> PhoneMedia? { files[richID] }

    // What the test decides

    func refuse(_ error: PhoneActionError) { refusal = error }

    func keep(_ file: URL, _ mediaType: String, for richID: RichID) { files[richID] = PhoneMedia(mediaType: mediaType, file: file) }

    func show(screen: PhoneSnapshot.Screen, user: String) {
        shown.screen = screen
        shown.user = user
        for listener in listeners { listener.yield(.snapshot(shown)) }
    }

    /// Adds a step; a silent one is heard by nobody, as when a listener was too slow.
    func happen(_ title: String, silently: Bool = false) {
        let step = StoryStep(
            sequence: steps.count + 1, at: Timestamp(seconds: 1_800_000_000), phone: identity.id, richID: RichID(number: 7),
            step: .delivered, title: title)
        steps.append(step)
        if !silently { for listener in listeners { listener.yield(.story(step)) } }
    }

    func switchOff() { for listener in listeners { listener.finish() } }
}
