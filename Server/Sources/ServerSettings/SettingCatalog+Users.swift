/// What one user of the app backend may do and take up.
extension SettingCatalog {
    static let minimumPasswordLength = Setting(
        "minimum-password-length", .integer(8...128), default: 12, in: .users,
        """
        How many characters a new password has at least. Common passwords and the user's own name are refused whatever their length; \
        passwords that are set already stay.
        """)
    static let userSendsPerMinute = Setting(
        "user-sends-per-minute", .integer(1...1_000_000), default: 60, in: .users,
        """
        How many sends and replies a user of role user may begin in a minute, at each node; more are answered 429 with \
        Retry-After.
        """)
    static let senderSendsPerMinute = Setting(
        "sender-sends-per-minute", .integer(1...1_000_000), default: 3_000, in: .users,
        "The same for a user of role sender or admin.")
    static let userDevices = Setting(
        "user-devices", .integer(1...2_000), default: 100, in: .users,
        "On how many devices one user may be signed in at once. Devices that are signed in stay when the number is lowered.")
    static let userWaitingContents = Setting(
        "user-waiting-contents", .integer(1...100_000), default: 200, in: .users,
        "How many contents of one user may wait to be sent. One that was not sent goes after 24 hours.")

    /// The settings of this chapter.
    static let users: [SettingDeclaration] = [
        minimumPasswordLength.declaration, userSendsPerMinute.declaration, senderSendsPerMinute.declaration,
        userDevices.declaration, userWaitingContents.declaration,
    ]
}
