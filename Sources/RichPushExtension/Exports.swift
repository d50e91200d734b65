#if canImport(UIKit) && canImport(UserNotifications)
    // The configuration that an extension overrides is declared in `RichPushDevice`: one import is enough.
    @_exported import RichPushDevice
    @_exported import RichPushModel
#endif
