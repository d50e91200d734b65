/// What a node does of all that nodes do.
public enum NodeRole: String, Hashable, Sendable, CaseIterable {
    /// Everything.
    case all
    /// Answers requests; others send.
    case api
    /// Sends and keeps things in order; of requests it answers only whether it is well.
    case worker

    /// Whether the interfaces for phones, senders and hub clients are here.
    public var answers: Bool { self != .worker }

    /// Whether pushes leave from here, and jobs and sweeps run here.
    public var dispatches: Bool { self != .api }
}
