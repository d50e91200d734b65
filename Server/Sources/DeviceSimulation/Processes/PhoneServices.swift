import RichPushDevice

/// The services of the phone's system for an app in a process of its own.
protocol PhoneServices: NotificationPresenting, PushRegistering, AppEnvironment, BackgroundScheduling, ContentRouting {
    /// The app answered a call that it had answered before.
    func noteSurplusAnswer() async
}
