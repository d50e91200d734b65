#if canImport(UIKit) && canImport(UserNotifications)
    // What an app meets in the client's functions comes with it, so that one import is enough: configuration, session, inbox and
    // errors are declared in `RichPushDevice`, numbers and entries in `RichPushModel`.
    @_exported import RichPushDevice
    @_exported import RichPushModel
#endif
