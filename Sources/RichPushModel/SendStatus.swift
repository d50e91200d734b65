/// The answer to a question where a send stands. `Documentation/Retries.md` lists every word of it.
public struct SendStatus: Hashable, Sendable, Codable {
    /// What a send waits for while its last try could not be made.
    public struct Waiting: Hashable, Sendable, Codable {
        /// `operator`: an operator has to correct the credential or the configuration. `push-service`: APNs, or the way to it, has to come
        /// back.
        public var cause: String
        /// The word of APNs or of the server's client, for example `InvalidProviderToken`.
        public var reason: String

        /// Creates a wait.
        public init(cause: String, reason: String) {
            self.cause = cause
            self.reason = reason
        }

        private enum CodingKeys: String, CodingKey {
            case cause = "for"
            case reason
        }
    }

    /// A device that ended without its push.
    public struct Failure: Hashable, Sendable, Codable {
        /// The id of its registration; absent when the device was removed.
        public var device: String?
        /// One of the words of `outcomes`.
        public var outcome: String
        /// The word of APNs or of the server's client, if there was one.
        public var reason: String?

        /// Creates a failure.
        public init(device: String?, outcome: String, reason: String?) {
            self.device = device
            self.outcome = outcome
            self.reason = reason
        }
    }

    /// `scheduled`, `accepted`, `dispatching`, `completed`, `cancelled`, `expired` or `failed`.
    public var state: String
    /// How many devices the send is for. Absent while a send to more than 10,000 devices is under way, and where the hub does not say.
    public var targets: Int?
    /// How many targets ended with each outcome, for example `accepted: 3`. Each target counts once.
    public var outcomes: [String: Int]
    /// How many targets ended with an outcome for each reason that was given: first the outcome, then the reason.
    public var reasons: [String: [String: Int]]?
    /// What the send waits for now.
    public var waiting: Waiting?
    /// Sentences for the sender about what is probably a mistake.
    public var warnings: [String]?
    /// Devices that ended without their push, at most 100; only an administrator sees them.
    public var failures: [Failure]?
    /// How many installations sent each kind of receipt.
    public var receipts: [String: Int]

    /// Creates a status.
    public init(state: String, outcomes: [String: Int], receipts: [String: Int]) {
        self.state = state
        self.outcomes = outcomes
        self.receipts = receipts
    }
}
