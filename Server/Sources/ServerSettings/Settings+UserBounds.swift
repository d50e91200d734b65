import AppBackend

extension Settings {
    /// What one user of the app backend may do and take up.
    public struct UserBounds: Hashable, Sendable {
        /// Characters of a new password, at least.
        public var minimumPasswordLength = BackendSettings().minimumPasswordLength
        /// Sends of a user of role `user` in a minute.
        public var userSendsPerMinute = BackendSettings().userSendsPerMinute
        /// Sends of a user of another role in a minute.
        public var senderSendsPerMinute = BackendSettings().senderSendsPerMinute
        /// Devices on which one user is signed in.
        public var devices = BackendSettings().userDevices
        /// Contents of one user that wait to be sent.
        public var waitingContents = BackendSettings().waitingContents

        /// The defaults.
        public init() {}

        init(from resolver: inout SettingsResolver) {
            minimumPasswordLength = resolver.value(SettingCatalog.minimumPasswordLength)
            userSendsPerMinute = resolver.value(SettingCatalog.userSendsPerMinute)
            senderSendsPerMinute = resolver.value(SettingCatalog.senderSendsPerMinute)
            devices = resolver.value(SettingCatalog.userDevices)
            waitingContents = resolver.value(SettingCatalog.userWaitingContents)
        }

        /// Sets these bounds in the settings of an app backend.
        func apply(to backend: inout BackendSettings) {
            backend.minimumPasswordLength = minimumPasswordLength
            backend.userSendsPerMinute = userSendsPerMinute
            backend.senderSendsPerMinute = senderSendsPerMinute
            backend.userDevices = devices
            backend.waitingContents = waitingContents
        }
    }
}
