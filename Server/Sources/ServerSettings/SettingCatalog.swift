import Logging
import PostgresDatabase
import ServerObservability
import SharedAccess

/// Every setting of a node, in the order and under the headings of the reference page. A setting is declared here or in a group and
/// nowhere else: Mirror lists the members, and `settings.NAME` reads the value.
///
/// No key ends in `file` on its own: `CLARION_…_FILE` already means "the file that holds the secret".
public struct SettingCatalog: Sendable {
    private let storage = SettingHeading("Storage")
    package let dataDirectory = Setting(
        "data-directory", .path, default: "/var/lib/clarion",
        "Where the database and the stored content live. One server process at a time may use it; back it up as a whole.")
    package let databaseURL = Setting(
        "database-url", .optional(.databaseURL), default: nil, secret: true,
        """
        Where PostgreSQL is, such as postgres://clarion@db.example/clarion?sslmode=verify-full. What it leaves out comes from PGHOST, \
        PGPASSWORD and the other variables of PostgreSQL's clients. Without it the database is a file in the data directory.
        """)
    package let databaseConnections = Setting(
        "database-connections", .integer(2...500), default: 8,
        "How many connections a server opens to PostgreSQL; one in four is for writing.")
    package let databasePooler = Setting(
        "database-pooler", .choice, default: DatabasePooler.session,
        """
        What stands between this server and PostgreSQL: session for nothing, or a pooler that gives each connection one of the \
        database's own; transaction for a pooler that gives one for each transaction, such as PgBouncer. Statements are then sent \
        with their text each time, and other nodes find what one accepted with their look twice a second.
        """)
    package let databaseWithoutFsync = Setting(
        "database-without-fsync", .flag, default: false,
        """
        Use a PostgreSQL database although its settings lose acknowledged writes at a crash: fsync = off, or unlogged tables. For tests. \
        Without it such a database ends the start, and a server that finds one later is not ready.
        """)
    package let contentLimit = Setting(
        "content-limit", .size(1...10_000_000_000), default: 25_000_000,
        "The largest picture, sound, video or file that is accepted. Uploads are streamed, so this bounds disk and not memory.")
    package let contentPixels = Setting(
        "content-pixels", .integer(1_000_000...4_294_967_296), default: 100_000_000,
        """
        How many pixels a picture may have, width times height. A phone needs about four bytes of memory for each, however small the file \
        is.
        """)
    package let contentQuota = Setting(
        "content-quota", .size(1_000_000...1_000_000_000_000_000), default: 1_000_000_000,
        """
        How many bytes the contents of one user may have together, those that wait to be sent and those that were. What is recalled \
        or refused or has had its time counts no more. At least content-limit.
        """)
    package let masterKey = Setting(
        "master-key", .optional(.masterKey), default: nil, secret: true,
        """
        The key under which the keys and credentials of hubs are stored. Without it the first start makes one and keeps it in \
        master-key in the data directory; a restored database needs it too.
        """)

    private let contentStore = SettingHeading("Contents on S3")
    package let s3 = ContentStoreSettings()

    private let nodes = SettingHeading("Several nodes")
    package let role = Setting(
        "role", .choice, default: NodeRole.all,
        """
        What this node does: all does everything; api answers requests and lets other nodes send; worker sends, runs jobs and \
        sweeps, and answers only health requests. Nodes that share the work share database-url and master-key, and contents on S3.
        """)

    private let keeping = SettingHeading("Retention")
    package let retention = RetentionGroup()

    private let interfaces = SettingHeading("Listening")
    package let listening = ListeningSettings()

    private let metrics = SettingHeading("Metrics")
    package let metricsHost = Setting(
        "metrics-host", .host, default: "127.0.0.1",
        "The address on which /metrics answers. It asks for no password; anything but this machine needs metrics-open.")
    package let metricsPort = Setting(
        "metrics-port", .optional(.listeningPort), default: nil,
        "The port of /metrics for Prometheus, customarily 9464. Without it there is no such listener.")
    package let metricsOpen = Setting(
        "metrics-open", .flag, default: false,
        "Allows /metrics beyond this machine. The numbers show the load of the server, but no user or device.")

    private let logging = SettingHeading("Logging")
    package let logLevel = Setting(
        "log-level", .choice, default: Logger.Level.info,
        "How much is logged. info is meant for operators; debug and trace are for a fault that is being looked for.")
    package let logFormat = Setting(
        "log-format", .choice, default: LogFormat.text,
        "text is human-readable; json writes one object per line, for a log collector.")

    private let pushService = SettingHeading("Apple's push service")
    package let apns = APNsSettings()

    private let sending = SettingHeading("Notifications")
    package let notifications = NotificationSettings()

    private let accounts = SettingHeading("Users")
    package let users = UserSettings()

    private let consoleHeading = SettingHeading("Console")
    package let console = ConsoleSettings()

    private let browserHeading = SettingHeading("Web Push")
    package let webPush = WebPushSettings()

    private let androidHeading = SettingHeading("Android")
    package let fcm = FCMSettings()

    private let webhookHeading = SettingHeading("Webhooks")
    package let webhooks = WebhookSettings()

    private let hubLimits = SettingHeading("Limits of the hub protocol")
    package let hubBounds = HubLimitSettings()

    private let deadlines = SettingHeading("Deadlines")
    package let pushDeadline = Setting(
        "push-deadline", .duration(.seconds(1) ... .seconds(300)), default: .seconds(20),
        "How long one push may take at its push service before it is not known whether it arrived.")
    package let shutdownDeadline = Setting(
        "shutdown-deadline", .duration(.seconds(1) ... .seconds(300)), default: .seconds(10),
        "How long a stopping server waits for requests and pushes under way. What is left goes on at the next start.")
}

/// How long the app backend keeps what was sent.
public struct RetentionGroup: SettingGroup {
    package let content = Setting(
        "retention-content", .duration(.seconds(86_400) ... .seconds(3650 * 86_400)), default: .seconds(30 * 86_400),
        """
        How long a send is kept after it ended: content, places in inboxes, receipts. One whose own expiry comes sooner goes at that. \
        Documentation/Retention.md says it for everything that is stored.
        """)
    package let grace = Setting(
        "retention-grace", .duration(.zero ... .seconds(30 * 86_400)), default: .seconds(86_400),
        """
        How much longer a send stays that would go. Apple keeps a push for up to 30 days; the phone that gets it at the last moment \
        has to be able to fetch.
        """)
    package let audit = Setting(
        "retention-audit", .duration(.seconds(86_400) ... .seconds(3650 * 86_400)), default: .seconds(180 * 86_400),
        "How long an entry of the audit stays at least.")
}

/// Where other servers hear what happens.
public struct WebhookSettings: SettingGroup {
    package let networks = Setting(
        "webhook-networks", .list(.addressRange), default: [],
        """
        The networks, besides the public Internet, to which webhooks may lead; only to these also by plain http. A caller that manages webhooks \
        makes this server call what is in them.
        """)
    package let trustRootsPath = Setting(
        "webhook-trust-roots-path", .optional(.path), default: nil,
        "The certificates (PEM) that vouch for the receivers of webhooks besides the system's.")
    package let retryPause = Setting(
        "webhook-retry-pause", .duration(.milliseconds(10) ... .seconds(3600)), default: .seconds(5),
        """
        How long the server waits after the first attempt of an event that fails. Each later pause is four times as long, up to six hours. \
        With the default the last of 18 attempts is made after three days.
        """)
}

extension GroupedSettings<WebhookSettings> {
    /// Where webhooks may lead.
    package var rule: OutboundRule { OutboundRule(networks: self.networks, setting: "webhook-networks") }
}

/// The console in the browser.
public struct ConsoleSettings: SettingGroup {
    package let path = Setting(
        "console-path", .consolePath, default: "/console",
        "Where the console is. A hub of the same name answers no requests then.")
    package let isOff = Setting(
        "without-console", .flag, default: false,
        "Serve no console.")
    package let provider = Setting(
        "console-provider", .optional(.path), default: nil,
        """
        A YAML file with the OpenID Connect provider at which people sign in to the console, such as Keycloak, Entra or Google. \
        Documentation/Console.md explains its fields. It needs public-url. Without it links sign people in.
        """)
    package let idleTimeout = Setting(
        "console-idle-timeout", .duration(.seconds(300) ... .seconds(86_400)), default: .seconds(1_800),
        "How long a session of the console holds without being used.")
    package let sessionLife = Setting(
        "console-session-life", .duration(.seconds(300) ... .seconds(30 * 86_400)), default: .seconds(12 * 3600),
        "How long a session of the console holds in any case; then the person signs in again.")
}

/// What one user of the app backend may do and take up.
public struct UserSettings: SettingGroup {
    package let minimumPasswordLength = Setting(
        "minimum-password-length", .integer(8...128), default: 12,
        """
        How many characters a new password has at least. Common passwords and the user's own name are refused whatever their length; \
        passwords that are set already stay.
        """)
    package let trustedIssuers = Setting(
        "trusted-issuers", .optional(.path), default: nil,
        """
        A YAML file with the issuers whose tokens sign users in, such as Keycloak, Auth0, Entra or Firebase. \
        Documentation/OwnAccounts.md explains its fields. Without it passwords and one-time tokens sign users in.
        """)
    package let userSendsPerMinute = Setting(
        "user-sends-per-minute", .integer(1...1_000_000), default: 60,
        """
        How many sends and replies a user of role user may begin in a minute, at each node; more are answered 429 with \
        Retry-After.
        """)
    package let senderSendsPerMinute = Setting(
        "sender-sends-per-minute", .integer(1...1_000_000), default: 3_000,
        "The same for a user of role sender or admin.")
    package let devices = Setting(
        "user-devices", .integer(1...2_000), default: 100,
        "On how many devices one user may be signed in at once. Devices that are signed in stay when the number is lowered.")
    package let waitingContents = Setting(
        "user-waiting-contents", .integer(1...100_000), default: 200,
        "How many contents of one user may wait to be sent. One that was not sent goes after 24 hours.")
}

extension SettingCatalog {
    /// The declarations.
    static let standard = SettingCatalog()

    /// Every setting, in the order of the reference page.
    static let all = sections.flatMap(\.settings)

    /// The chapters of the reference page.
    static let sections: [(title: String, settings: [any AnySetting])] = members(of: standard).reduce(into: []) {
        sections, member in
        if let heading = member as? SettingHeading { sections.append((heading.title, [])) }
        if let setting = member as? any AnySetting { sections[sections.count - 1].settings.append(setting) }
    }

    /// The settings of one group.
    static func settings(of group: some SettingGroup) -> [any AnySetting] {
        members(of: group).compactMap { $0 as? any AnySetting }
    }

    /// The stored properties in the order of their declaration, those of groups in the place of the group.
    private static func members(of value: Any) -> [Any] {
        Mirror(reflecting: value).children.flatMap { child in
            child.value is any SettingGroup ? members(of: child.value) : [child.value]
        }
    }
}

/// The beginning of a chapter of the reference page.
private struct SettingHeading: Sendable {
    let title: String

    init(_ title: String) { self.title = title }
}
