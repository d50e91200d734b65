#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice

    /// Low Power Mode, as app and extensions see it.
    package struct SystemPower: PowerState {
        package init() {}

        package func isSavingPower() async -> Bool { ProcessInfo.processInfo.isLowPowerModeEnabled }
    }
#endif
