#if canImport(UIKit) && canImport(UserNotifications)
    // The types in the client's functions come with it, so that one import is enough: configuration, session, inbox and errors are
    // declared in `RichPushDevice`, ids and entries in `RichPushModel`.
    @_exported import RichPushDevice
    @_exported import RichPushModel
#endif
