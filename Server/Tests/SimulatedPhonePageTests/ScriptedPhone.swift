@testable import DeviceSimulation
import Foundation
import RichPushModel
import SimulatedPhonePage

/// A phone whose snapshots and steps a test sets; it remembers the actions on it.
actor ScriptedPhone: PagePhone {
    private(set) var actions: [PhoneAction] = []
    private(set) var listenerCount = 0
    private(set) var steps: [StoryStep] = []
    private(set) var snapshot: PhoneSnapshot
    private var files: [String: PhoneMedia] = [:]
    private var refusal: PhoneActionError?
    private var listeners: [AsyncStream<PhoneUpdate>.Continuation] = []

    init(id: String = "p1", name: String = "First phone", owner: String? = nil) {
        snapshot = PhoneSnapshot(
            phone: .init(id: id, name: name, model: "iPhone", owner: owner), time: Timestamp(seconds: 1_800_000_000))
    }

    func updates() -> AsyncStream<PhoneUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: PhoneUpdate.self)
        listeners.append(continuation)
        listenerCount += 1
        return stream
    }

    func perform(_ action: PhoneAction) throws(PhoneActionError) {
        if let refusal { throw refusal }
        actions.append(action)
    }

    func media(for richID: RichID, attachmentOf noticeID: String?) -> PhoneMedia? { files["\(richID) \(noticeID ?? "-")"] }

    // What the test decides

    func refuse(_ error: PhoneActionError) { refusal = error }

    func keep(
        _ file: URL, _ mediaType: String, named name: String? = nil, for richID: RichID, attachmentOf noticeID: String? = nil
    ) {
        files["\(richID) \(noticeID ?? "-")"] = PhoneMedia(mediaType: mediaType, file: file, fileName: name)
    }

    func show(screen: PhoneSnapshot.Screen, user: String) {
        snapshot.screen = screen
        snapshot.user = user
        for listener in listeners { listener.yield(.snapshot(snapshot)) }
    }

    /// Adds a step; a silent one reaches no listener, as when a listener was too slow.
    func happen(_ title: String, silently: Bool = false) {
        let step = StoryStep(
            sequence: steps.count + 1, at: Timestamp(seconds: 1_800_000_000), phone: snapshot.phone.id, richID: RichID(number: 7),
            step: .delivered, title: title)
        steps.append(step)
        if !silently { for listener in listeners { listener.yield(.story(step)) } }
    }

    func switchOff() { for listener in listeners { listener.finish() } }
}
