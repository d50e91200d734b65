import RichPushModel

/// One thing that happened to a push. `at` orders the steps; what happened elsewhere is recorded a little later.
public struct StoryStep: Hashable, Sendable, Codable {
    /// What happened.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The app asked the backend to send.
        case send
        /// The backend kept it.
        case accepted
        case apnsRequest = "apns-request"
        case apnsAnswer = "apns-answer"
        /// The push service keeps it for a phone that is not connected.
        case stored
        /// The push reached the phone.
        case delivered
        /// The system started the app or its extension for it.
        case woken
        /// The system did not: switched off, force-quit, or over budget.
        case held
        /// The content arrived and passed its checks.
        case fetched
        case shown
        case opened
        case dismissed
        /// Receipts reached the server.
        case receipt
        case failed
    }

    /// Counts up from 1 for each phone, in the order of recording.
    public var sequence: Int
    /// When it happened.
    public var at: Timestamp
    /// The phone's id.
    public var phone: String
    public var richID: RichID?
    /// The `apns-id` of the push it belongs to, where known: it distinguishes pushes without a rich id.
    public var push: String?
    public var step: Kind
    /// A human-readable sentence.
    public var title: String
    /// Facts, without secrets, tokens or content.
    public var detail: [String: String] = [:]

    private enum CodingKeys: String, CodingKey {
        case sequence = "seq", at, phone, richID = "richId", push, step, title, detail
    }
}

/// What a subscriber of a simulated phone hears.
public enum PhoneUpdate: Hashable, Sendable {
    /// The phone looks different now.
    case snapshot(PhoneSnapshot)
    /// Something happened.
    case story(StoryStep)
}
