/// Whether power is short. The service extension asks too, so it is apart from what only the app has.
public protocol PowerState: Sendable {
    /// Whether the user asked the device to save power.
    func isSavingPower() async -> Bool
}

/// For a device that saves nothing, as one without a battery.
public struct FullPower: PowerState {
    /// Creates it.
    public init() {}

    public func isSavingPower() async -> Bool { false }
}
