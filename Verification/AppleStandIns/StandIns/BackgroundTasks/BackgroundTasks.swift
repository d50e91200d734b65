// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code.
@_exported import AppleFoundationShims

open class BGTask: NSObject {
    public let identifier: String
    private let lock = NSLock()
    private var handler: (() -> Void)?
    private var ends: [Bool] = []

    public init(fake identifier: String) { self.identifier = identifier }

    open var expirationHandler: (() -> Void)? {
        get { lock.withLock { handler } }
        set { lock.withLock { handler = newValue } }
    }

    open func setTaskCompleted(success: Bool) { lock.withLock { ends.append(success) } }

    /// How it was ended; a system takes only one end.
    public var fakeEnds: [Bool] { lock.withLock { ends } }
}

open class BGAppRefreshTask: BGTask {}

open class BGTaskRequest: NSObject {
    public let identifier: String
    open var earliestBeginDate: Date?
    init(_ identifier: String) { self.identifier = identifier }
}

open class BGAppRefreshTaskRequest: BGTaskRequest {
    public init(identifier: String) { super.init(identifier) }
}

open class BGTaskScheduler: NSObject {
    // `nonisolated(unsafe)` is safe: it is never changed, and the class locks what changes.
    nonisolated(unsafe) private static let theOnly = BGTaskScheduler()
    open class var shared: BGTaskScheduler { theOnly }

    private let lock = NSLock()
    private var permitted: Set<String> = []
    private var handlers: [String: (BGTask) -> Void] = [:]
    private var requests: [String] = []

    open func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        lock.withLock {
            guard permitted.contains(identifier) else { return false }
            handlers[identifier] = launchHandler
            return true
        }
    }

    open func submit(_ taskRequest: BGTaskRequest) throws { lock.withLock { requests.append(taskRequest.identifier) } }

    public func fakeReset(permitted: Set<String>) {
        lock.withLock {
            self.permitted = permitted
            handlers = [:]
            requests = []
        }
    }

    public var fakeRequests: [String] { lock.withLock { requests } }

    /// Runs what was registered, as the system does on a queue of its own.
    public func fakeLaunch(_ task: BGTask) { lock.withLock { handlers[task.identifier] }?(task) }
}
