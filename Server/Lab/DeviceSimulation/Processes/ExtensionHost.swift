import RichPushDevice
import RichPushModel

/// Where the service extension runs.
protocol ExtensionHost: Sendable {
    /// Runs it for one push and says how it ended, at the latest when its time is over.
    func run(_ request: EnrichmentRequest) async -> ExtensionEnd
}

/// How a service extension ended for one push.
struct ExtensionEnd: Hashable, Sendable {
    enum Reason: String, Hashable, Sendable, CaseIterable {
        /// It handed something over by itself.
        case answered
        /// It handed over what it had when it was told that its time ends.
        case expired
        /// It had to be ended at its deadline.
        case killedAtDeadline = "killed-at-deadline"
        /// It had to be ended because it took too much memory.
        case killedForMemory = "killed-for-memory"
        /// It ended by itself without an answer.
        case crashed
        case notStarted = "not-started"
    }

    var reason: Reason
    /// What it handed over; the system shows the push as it came when there is nothing.
    var content: NoticeContent?
    /// How much its own memory grew over what it had when it was ready, and how much all that is resident did, program code
    /// included; where that is measured.
    var grownBytes: Int?
    var grownResidentBytes: Int?
    /// The process that it ran in, if it had one of its own.
    var processID: Int32?
    /// From its being ready to its end.
    var took: Duration

    /// For people.
    var sentence: String {
        switch reason {
        case .answered: "The service extension handed over the notification"
        case .expired: "The service extension handed over what it had when its time ended"
        case .killedAtDeadline: "The system ended the service extension at its deadline and shows the push as it came"
        case .killedForMemory: "The system ended the service extension for its memory and shows the push as it came"
        case .crashed: "The service extension crashed; the system shows the push as it came"
        case .notStarted: "The service extension could not be started; the system shows the push as it came"
        }
    }
}
