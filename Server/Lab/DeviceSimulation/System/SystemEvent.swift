/// What happens to a phone, as its operating system hears of it.
enum SystemEvent: Hashable, Sendable {
    /// A push that has something to show.
    case alert(AlertTraits)
    /// A push, or the part of one, that wants the app to run.
    case background(IncomingPush)
    /// A push that is nothing but a number for the icon.
    case badge(Int)
    /// Content is ready to be shown: the extension's, the push's own, or the app's.
    case notice(AlertTraits)

    /// The time has come that the app wanted a refresh at.
    case refresh

    case openApp, goHome, lock, unlock, forceQuit
    /// The system takes the app's memory back.
    case endApp
    case restart, removeApp, installApp, restoreBackup
    /// Nothing is left of the app that was there before; there is a new one that can be started, or none.
    case replaced(isInstalled: Bool)
    /// The user touched a notification.
    case touch(Touch)

    /// The app is done with what it was woken for.
    case taskEnded
    /// Some seconds in the background have passed.
    case idle
    /// The user changed the settings.
    case settings(SystemSettings)

    /// How a notification was touched.
    enum Touch: String, Hashable, Sendable, CaseIterable {
        /// Tapped, or a button that opens the app.
        case open
        /// Answered in its field: the app runs in the background.
        case reply
        /// Removed, and the category asks to hear of that.
        case dismiss
    }

    /// What the system reads of an alert.
    struct AlertTraits: Hashable, Sendable {
        /// Whether the service extension may change it.
        var isMutable = false
        var badge: Int?
        /// `time-sensitive` or `critical`: a Focus lets it through.
        var isUrgent = false
    }
}
