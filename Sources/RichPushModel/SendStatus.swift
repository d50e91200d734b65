/// The answer to `GET /api/v1/notifications/{id}/status`, for the sender: where a send stands and what became of it.
public struct SendStatus: Hashable, Sendable, Codable {
    /// `scheduled`, `accepted`, `dispatching`, `completed`, `cancelled`, `expired` or `failed`.
    public var state: String
    /// How many targets ended with each outcome, for example `accepted: 3`. Each target counts once.
    public var outcomes: [String: Int]
    /// How many installations sent each kind of receipt.
    public var receipts: [String: Int]

    /// Creates a status.
    public init(state: String, outcomes: [String: Int], receipts: [String: Int]) {
        self.state = state
        self.outcomes = outcomes
        self.receipts = receipts
    }
}
