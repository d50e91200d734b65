import ServiceErrors

/// How `clarion demo` runs.
public struct DemoOptions: Hashable, Sendable {
    /// The port asked for; absent means 8080, or any free one when that is taken.
    public var port: Int?
    /// Where the demo keeps its state; removing the folder starts it afresh.
    public var directory: String
    /// Whether the state of an earlier demo is removed first.
    public var startsAfresh: Bool

    /// Creates options.
    public init(port: Int?, directory: String, startsAfresh: Bool) {
        self.port = port
        self.directory = directory
        self.startsAfresh = startsAfresh
    }
}

/// Everything in one process: a node, a local APNs and the simulated iPhone. Listens on loopback only.
public enum DemoService {
    /// Runs until the process is told to stop. `announce` gets the lines for the terminal once the page answers.
    public static func run(_ options: DemoOptions, announce: @escaping @Sendable (String) -> Void) async throws {
        throw ServiceError(.notReady, "not composed yet")
    }
}
