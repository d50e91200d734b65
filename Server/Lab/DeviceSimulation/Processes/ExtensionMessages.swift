import RichPushDevice

/// What the phone tells a service extension. The first line is its `ProcessSetup`.
enum ToExtension: Codable, Sendable {
    /// Improve this push within the budget.
    case enrich(EnrichmentRequest, budget: Duration)
    /// The end is near.
    case expire
}

/// What a service extension tells the phone.
enum FromExtension: Codable, Sendable {
    /// It runs, and its time may be counted.
    case ready
    case event(DeviceEvent)
    /// The content to show.
    case content(NoticeContent)
}

/// A mistake that a service extension makes on purpose, so that the phone's answer to it can be seen.
public enum ExtensionMistake: String, Sendable, CaseIterable {
    /// It never answers, not even when it is told that its time ends.
    case hang
    /// It takes more memory than it may.
    case grow
    /// It ends without an answer.
    case crash
    /// It hands its content over twice.
    case answerTwice = "answer-twice"
}
