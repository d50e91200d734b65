/// What a subscriber of a simulated phone hears.
public enum PhoneUpdate: Hashable, Sendable {
    /// The phone looks different now.
    case snapshot(PhoneSnapshot)
    /// Something happened.
    case story(StoryStep)
}
