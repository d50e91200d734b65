// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code.
@_exported import AppleFoundationShims
import Synchronization

public struct WidgetPushInfo: Sendable {
    public let token: Data

    public init(fake token: Data) { self.token = token }
}

// `@unchecked` is safe: the lock guards what changes.
public final class WidgetCenter: @unchecked Sendable {
    public static let shared = WidgetCenter()

    private let lock = NSLock()
    private var info: WidgetPushInfo?

    public var currentPushInfo: WidgetPushInfo? { get async { lock.withLock { info } } }

    public func fake(pushInfo: WidgetPushInfo?) { lock.withLock { info = pushInfo } }
}

public struct ControlPushInfo: Sendable {
    public let token: Data
}

public struct ControlInfo: Sendable {
    public let kind: String
    public var pushInfo: ControlPushInfo?

    public init(fake kind: String, token: Data?) { (self.kind, pushInfo) = (kind, token.map(ControlPushInfo.init)) }
}

public final class ControlCenter: Sendable {
    private struct FakeFailure: Error {}

    public static let shared = ControlCenter()

    private let placed = Mutex<[ControlInfo]?>([])

    public func currentControls() async throws -> [ControlInfo] {
        guard let placed = placed.withLock({ $0 }) else { throw FakeFailure() }
        return placed
    }

    /// The controls that the user has placed; with `nil` the system fails to say.
    public func fake(controls: [ControlInfo]?) { placed.withLock { $0 = controls } }
}
