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

/// What a phone has to do after an event, in order.
enum SystemInstruction: Hashable, Sendable {
    /// Start the service extension with the push, and show what it gives back.
    case runExtension
    /// Show the content; ask for its place with the event `notice` when it is ready.
    case showNotice
    case place(NoticePlace)
    case setBadge(Int)

    /// Make a process of the app.
    case startApp
    /// Let the suspended process go on.
    case resumeApp
    /// End the process, whatever it does.
    case endApp
    /// Hand a push to the app's background handler.
    case handOver(IncomingPush)
    /// Let the app refresh itself.
    case refreshApp
    /// Do not; the reason is recorded.
    case hold(HoldReason)
    case drop(HoldReason)
    /// The user cannot do that now.
    case refuse(String)

    /// What is protected can be read from now on.
    case unlockData
    /// It cannot, until the first unlock.
    case lockData
    /// The app is on the display and gets input.
    case becomeActive
    case hideBanner
    /// Take away what is in the notification centre.
    case clearNotices
    /// Count the seconds until an app in the background is suspended.
    case suspendLater
    /// The files of the app are removed.
    case removeFiles
    /// The secrets of the app are removed.
    case removeSecrets
    /// The device token is good no longer.
    case unregister
    /// All of the old app is gone: say `replaced`. Until then there is none that a push could start.
    case replace(isInstalled: Bool)
}

/// Where a notification is seen.
enum NoticePlace: String, Hashable, Sendable, CaseIterable {
    /// The app is in front and says how.
    case asAppSays
    case banner
    case lockScreen
    /// The notification centre only, without a banner or a sound.
    case quietly
}

/// Why a push did not do what it was meant for.
enum HoldReason: String, Hashable, Sendable, CaseIterable, Error {
    case notInstalled, notificationsOff, alertsOff, forceQuit, backgroundRefreshOff, lowPower, overBudget

    /// Human-readable.
    var sentence: String {
        switch self {
        case .notInstalled: "The app is not on this phone"
        case .notificationsOff: "Notifications of this app are off"
        case .alertsOff: "Alerts of this app are off"
        case .forceQuit: "Dropped: the user force-quit the app, so the system does not start it"
        case .backgroundRefreshOff: "Held back: background refresh is off"
        case .lowPower: "Held back: low power mode is on"
        case .overBudget: "Held back: too many background pushes in an hour"
        }
    }
}
