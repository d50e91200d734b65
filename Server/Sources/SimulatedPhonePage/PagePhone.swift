import DeviceSimulation
import RichPushModel

/// A phone as its page needs it. `SimulatedPhone` is one.
public protocol PagePhone: Sendable {
    /// Which phone it is.
    var identity: PhoneSnapshot.Identity { get async }

    /// What can be seen of it now.
    func snapshot() async -> PhoneSnapshot

    /// What happens from now on, until the phone is switched off. The stream may drop what its reader is too slow for:
    /// the page finds a gap in the story by its sequence numbers and asks for the missing steps.
    func updates() async -> AsyncStream<PhoneUpdate>

    /// The steps of the story after `sequence`, in order, as far back as the phone remembers. 0 asks for all.
    func story(after sequence: Int) async -> [StoryStep]

    /// Does what a person does. Throws `PhoneActionError` when there is nothing to touch.
    func perform(_ action: PhoneAction) async throws

    /// The bytes that the engine fetched for a notification; `nil` when they are not on the phone.
    func media(for richID: RichID) async -> PhoneMedia?
}
