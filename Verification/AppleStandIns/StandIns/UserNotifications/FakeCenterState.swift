import Foundation

/// What the notification centre of a test keeps.
public struct FakeCenterState {
    public weak var delegate: (any UNUserNotificationCenterDelegate)?
    public var status = UNAuthorizationStatus.authorized
    public var asked: [UNAuthorizationOptions] = []
    public var categories: Set<UNNotificationCategory> = []
    /// Everything that was ever added.
    public var added: [UNNotificationRequest] = []
    /// What is in the notification centre now.
    public var shown: [UNNotificationRequest] = []
    public var badge = 0
    public var refusesAttachments = false

    public init() {}
}

extension UNUserNotificationCenter {
    /// Looks at the state or changes it.
    public func fake<Value>(_ work: (inout FakeCenterState) -> Value) -> Value { lock.withLock { work(&state) } }

    /// Forgets everything.
    public func fakeReset() { fake { $0 = FakeCenterState() } }
}
