import PushHub
import RichPushModel
import ServiceErrors

/// What the nodes that share a database have to do, and which nodes there are.
public struct Workload: Sendable, Codable, Hashable {
    /// A node that was seen within the last seconds.
    public struct Node: Sendable, Codable, Hashable {
        public var name: String
        /// `all`, `api` or `worker`.
        public var role: String
        public var version: String
        public var startedAt: Timestamp

        /// Creates a value.
        public init(name: String, role: String, version: String, startedAt: Timestamp) {
            self.name = name
            self.role = role
            self.version = version
            self.startedAt = startedAt
        }
    }

    /// How many parts of sends are due and wait for a node. A large send has sixteen parts.
    public var due: Int
    /// Since when the one that is due longest waits; absent when none is due.
    public var oldestDueAt: Timestamp?
    /// How many parts a node works on.
    public var underWay: Int
    /// How many parts wait for a time: scheduled, at a pace, or until the push service is asked again.
    public var waiting: Int
    /// Absent where one node has the database for itself.
    public var nodes: [Node]?

    /// Creates a value.
    public init(_ backlog: DispatchBacklog, nodes: [Node]?) {
        due = backlog.due.values.reduce(0, +)
        (oldestDueAt, underWay, waiting) = (backlog.oldestDueAt, backlog.leased, backlog.waiting)
        self.nodes = nodes
    }
}

extension RichPushBackend {
    /// What there is to do now. Throws `not-found` where that is not known, as with a hub elsewhere.
    public func workload() async throws -> Workload {
        guard let workload = parts.workload else {
            throw ServiceError(.notFound, "the hub elsewhere does not say what it has to do")
        }
        return try await workload()
    }
}
