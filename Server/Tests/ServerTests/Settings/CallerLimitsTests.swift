import AppBackend
import Foundation
import RichPushModel
import SharedAccess
import Testing

@testable import ServerSettings

@Suite("The limits for one caller in writing")
struct CallerLimitsTests {
    @Test("the page has the table that the code makes")
    func page() throws {
        let root = URL(filePath: #filePath).pathComponents.dropLast(5).joined(separator: "/").dropFirst()
        let text = try String(contentsOfFile: "\(root)/Documentation/LimitsPerCaller.md", encoding: .utf8)
        #expect(text.contains("\n\n" + CallerLimits.table + "\n"), "it is\n\(CallerLimits.table)")
    }

    @Test("every setting that limits a user has a row")
    func complete() {
        let users = SettingCatalog.standard.users
        for setting in SettingCatalog.settings(of: users) {
            let key = setting.declaration.key
            // Neither counts anything of one caller.
            if [users.minimumPasswordLength.declaration.key, users.trustedIssuers.declaration.key].contains(key) { continue }
            #expect(CallerLimits.table.contains("`\(key)`"), "\(key)")
        }
    }

    @Test("what protects accounts is counted in the database")
    func accounts() {
        let rows = CallerLimits.rows.filter { $0.counted.hasPrefix("Failed sign-ins") }
        #expect(rows.count == 3)
        #expect(rows.allSatisfy { $0.place == .database })
    }
}

/// Every limit that one caller of the server can meet, as one table: `Documentation/LimitsPerCaller.md` has these rows.
///
/// The figures come from the code that applies them and from the defaults of the settings.
private enum CallerLimits {
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
            counted: "Failed sign-ins", each: "user and network", limit: text(SignInCounts.here), place: .database,
            answer: tooManyAttempts),
        Row(
            counted: "Failed sign-ins from networks where the user is not known", each: "user",
            limit: text(SignInCounts.account) + "; one network adds \(SignInCounts.contribution) at most until then",
            place: .database,
            answer: tooManyAttempts),
        Row(
            counted: "Failed sign-ins with names that are not known there", each: "network", limit: text(SignInCounts.source),
            place: .database, answer: tooManyAttempts),
        Row(
            counted: "Passwords that wait to be verified", each: "node",
            limit: "\(PasswordHasher.standardCapacity); one network half of it, one user an eighth", place: .node,
            answer: "503 `overloaded`, `Retry-After: \(PasswordHasher.retryAfter)`"),
    ]

    private static let requests = [
        Row(
            counted: "Connections", each: "node", limit: setting(\.listening.connectionLimit), place: .node,
            answer: "503, `Retry-After: 5`"),
        Row(
            counted: "Requests under way", each: "node; a user has a quarter", limit: setting(\.listening.requestLimit),
            place: .node,
            answer: "503 `overloaded`, for a user 429 `too-many-requests`; `Retry-After` of 1 to 4"),
        Row(
            counted: "Requests in a minute", each: "service key", limit: "`requestsPerMinute` of the key (no limit unless set)",
            place: .node, answer: tooManyRequests),
    ]

    private static let users = [
        Row(
            counted: "Sends, replies and counts of audiences in a minute", each: "user of role `user`",
            limit: setting(\.users.userSendsPerMinute),
            place: .node, answer: tooManyRequests),
        Row(
            counted: "Sends, replies and counts of audiences in a minute", each: "user of role `sender` or `admin`",
            limit: setting(\.users.senderSendsPerMinute), place: .node, answer: tooManyRequests),
        Row(
            counted: "Devices that are signed in", each: "user", limit: setting(\.users.devices), place: .database,
            answer: quota),
        Row(
            counted: "Changes of devices that are remembered", each: "user", limit: "\(BindingLimits.bindings)", place: .database,
            answer: quota),
        Row(
            counted: "Different tags that are remembered", each: "user", limit: "\(BindingLimits.tags)", place: .database,
            answer: quota),
        Row(
            counted: "Contents that wait to be sent", each: "user", limit: setting(\.users.waitingContents),
            place: .database,
            answer: quota),
        Row(
            counted: "Bytes of contents; each counts \(ContentQuota.smallest) at least", each: "user",
            limit: setting(\.contentQuota), place: .database, answer: quota),
        Row(
            counted: "Schedules that wait", each: "user", limit: "\(BackendSettings().waitingSchedules)", place: .database,
            answer: quota),
        Row(
            counted: "Live Activities that are active", each: "user", limit: "\(LiveActivity.limit)", place: .database,
            answer: quota),
        Row(
            counted: "Sign-ins at the provider of the console in a minute, begun or ended", each: "network",
            limit: "\(RichPushBackend.consoleSignInsPerMinute)", place: .node, answer: "the console says so"),
        Row(
            counted: "Sessions of the console", each: "user", limit: "\(RichPushBackend.consoleSessionsOfUser)", place: .database,
            answer: "the oldest ends"),
        Row(counted: "Webhooks", each: "app", limit: "\(RichPushBackend.webhookLimit)", place: .database, answer: quota),
    ]

    private static let hubs = [
        Row(
            counted: "Sends in a second through the hub protocol", each: "hub", limit: setting(\.notifications.hubSendsPerSecond),
            place: .node, answer: "429, `Retry-After`"),
        Row(
            counted: "Changes of registrations in a second", each: "hub", limit: setting(\.notifications.hubWritesPerSecond),
            place: .node,
            answer: "429, `Retry-After`"),
    ]

    private static let tooManyAttempts = "429 `too-many-attempts`, `Retry-After` with the wait"
    private static let tooManyRequests = "429 `too-many-requests`, `Retry-After` until the next"
    private static let quota = "403 `quota-exceeded`"

    private static func text(_ limit: SignInLimit) -> String {
        "\(limit.freeFailures) without a wait, then 1 s, doubled up to \(limit.longestWait.wholeMilliseconds / 1000) s"
    }

    private static func setting<Value>(_ key: KeyPath<SettingCatalog, Setting<Value>>) -> String {
        let declaration = SettingCatalog.standard[keyPath: key].declaration
        let standard = declaration.defaultTexts?.first
        return "`\(declaration.key)`" + (standard.map { " (\($0))" } ?? " (no limit unless set)")
    }
}
