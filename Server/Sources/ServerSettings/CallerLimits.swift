import AppBackend
import RichPushModel
import SharedAccess

/// Every limit that one caller of the server can meet, as one table: `Documentation/LimitsPerCaller.md` has these rows.
///
/// The figures come from the code that applies them and from the defaults of the settings.
enum CallerLimits {
    /// One limit.
    struct Row {
        /// What is counted.
        var counted: String
        /// Of whom.
        var each: String
        /// How much is allowed.
        var limit: String
        /// Where the count lies.
        var place: Place
        /// What a caller gets beyond it.
        var answer: String
    }

    /// Where a count lies.
    enum Place: String {
        /// One count for all nodes, and over a restart.
        case database = "database"
        /// A count of each node, gone with the process.
        case node = "node"
    }

    /// The table of the page.
    static var table: String {
        let head = "| What is counted | Of each | Limit | Counted in | Beyond it |\n| --- | --- | --- | --- | --- |\n"
        return head
            + rows.map { row in
                "| \(row.counted) | \(row.each) | \(row.limit) | \(row.place.rawValue) | \(row.answer) |\n"
            }.joined()
    }

    /// Those of accounts first.
    static let rows: [Row] = signIns + requests + users + hubs

    private static let signIns = [
        Row(
            counted: "Failed sign-ins", each: "user and network", limit: words(SignInCounts.here), place: .database,
            answer: tooManyAttempts),
        Row(
            counted: "Failed sign-ins from networks where the user is not known", each: "user",
            limit: words(SignInCounts.account) + "; one network adds \(SignInCounts.contribution) at most until then",
            place: .database,
            answer: tooManyAttempts),
        Row(
            counted: "Failed sign-ins with names that are not known there", each: "network", limit: words(SignInCounts.source),
            place: .database, answer: tooManyAttempts),
        Row(
            counted: "Passwords that wait to be verified", each: "node",
            limit: "\(PasswordHasher.standardCapacity); one network half of it, one user an eighth", place: .node,
            answer: "503 `overloaded`, `Retry-After: \(PasswordHasher.retryAfter)`"),
    ]

    private static let requests = [
        Row(
            counted: "Connections", each: "node", limit: setting(SettingCatalog.connectionLimit), place: .node,
            answer: "503, `Retry-After: 5`"),
        Row(
            counted: "Requests under way", each: "node; a user has a quarter", limit: setting(SettingCatalog.requestLimit),
            place: .node,
            answer: "503 `overloaded`, for a user 429 `too-many-requests`; `Retry-After` of 1 to 4"),
    ]

    private static let users = [
        Row(
            counted: "Sends and replies in a minute", each: "user of role `user`",
            limit: setting(SettingCatalog.userSendsPerMinute),
            place: .node, answer: tooManyRequests),
        Row(
            counted: "Sends and replies in a minute", each: "user of role `sender` or `admin`",
            limit: setting(SettingCatalog.senderSendsPerMinute), place: .node, answer: tooManyRequests),
        Row(
            counted: "Devices that are signed in", each: "user", limit: setting(SettingCatalog.userDevices), place: .database,
            answer: quota),
        Row(
            counted: "Changes of devices that are remembered", each: "user", limit: "\(BindingLimits.bindings)", place: .database,
            answer: quota),
        Row(
            counted: "Different tags that are remembered", each: "user", limit: "\(BindingLimits.tags)", place: .database,
            answer: quota),
        Row(
            counted: "Contents that wait to be sent", each: "user", limit: setting(SettingCatalog.userWaitingContents),
            place: .database,
            answer: quota),
        Row(
            counted: "Bytes of contents; each counts \(ContentQuota.smallest) at least", each: "user",
            limit: setting(SettingCatalog.contentQuota), place: .database, answer: quota),
    ]

    private static let hubs = [
        Row(
            counted: "Sends in a second through the hub protocol", each: "hub", limit: setting(SettingCatalog.hubSendsPerSecond),
            place: .node, answer: "429, `Retry-After`"),
        Row(
            counted: "Changes of registrations in a second", each: "hub", limit: setting(SettingCatalog.hubWritesPerSecond),
            place: .node,
            answer: "429, `Retry-After`"),
    ]

    private static let tooManyAttempts = "429 `too-many-attempts`, `Retry-After` with the wait"
    private static let tooManyRequests = "429 `too-many-requests`, `Retry-After` until the next"
    private static let quota = "403 `quota-exceeded`"

    private static func words(_ limit: SignInLimit) -> String {
        "\(limit.freeFailures) without a wait, then 1 s, doubled up to \(limit.longestWait.wholeMilliseconds / 1000) s"
    }

    private static func setting<Value: Sendable>(_ setting: Setting<Value>) -> String {
        let standard = setting.declaration.defaultTexts?.first
        return "`\(setting.declaration.key)`" + (standard.map { " (\($0))" } ?? " (no limit unless set)")
    }
}
