import DeviceSimulation
import RichPushModel

/// A phone as its page needs it: `SimulatedPhone`, and in tests something smaller.
public protocol PagePhone: Sendable {
    /// What can be seen of it now.
    var snapshot: PhoneSnapshot { get async }

    /// The story so far, in order, as far back as the phone remembers.
    var steps: [StoryStep] { get async }

    /// What happens from now on, until the phone is switched off. The stream may drop what its reader is too slow for; the
    /// sequence numbers of the story show the gap.
    func updates() async -> AsyncStream<PhoneUpdate>

    /// Does what a person does. Throws when there is nothing to touch.
    func perform(_ action: PhoneAction) async throws(PhoneActionError)

    /// The bytes behind a notification's attachment, or behind the content when `noticeID` is absent; `nil` when they
    /// are not on the phone.
    func media(for richID: RichID, attachmentOf noticeID: String?) async -> PhoneMedia?
}
