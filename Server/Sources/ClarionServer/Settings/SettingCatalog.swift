import APNsProtocol
import AppBackend
import PostgresDatabase
import PushHub
import ServerObservability

/// Every setting of a node, declared once. `Settings` reads them, the reference page and the example file are made from them.
///
/// No key ends in `file` on its own: `CLARION_…_FILE` already means "the file that holds the secret".
enum SettingCatalog {
    static let dataDirectory = Setting(
        "data-directory", .path, default: "/var/lib/clarion", in: .storage,
        "Where the database and the stored content live. One server process at a time may use it; back it up as a whole.")
    static let databaseURL = Setting(
        "database-url", .optional(.databaseURL), default: nil, in: .storage, secret: true,
        """
        Where PostgreSQL is, such as postgres://clarion@db.example/clarion?sslmode=verify-full. What it leaves out comes from PGHOST, \
        PGPASSWORD and the other variables of PostgreSQL's clients. Without it the database is a file in the data directory.
        """)
    static let databaseConnections = Setting(
        "database-connections", .integer(2...500), default: 8, in: .storage,
        "How many connections a server opens to PostgreSQL; one in four is for writing.")
    static let databasePooler = Setting(
        "database-pooler", .choice, default: DatabasePooler.session, in: .storage,
        """
        What stands between this server and PostgreSQL: session for nothing, or a pooler that gives each connection one of the \
        database's own; transaction for a pooler that gives one for each transaction, such as PgBouncer. Statements are then sent \
        with their text each time, and other nodes find what one accepted with their look twice a second.
        """)
    static let databaseWithoutFsync = Setting(
        "database-without-fsync", .flag, default: false, in: .storage,
        """
        Use a PostgreSQL database although its settings lose acknowledged writes at a crash: fsync = off, or unlogged tables. For tests. \
        Without it such a database ends the start, and a server that finds one later is not ready.
        """)
    static let contentLimit = Setting(
        "content-limit", .size(1...10_000_000_000), default: 25_000_000, in: .storage,
        "The largest picture, sound, video or file that is accepted. Uploads are streamed, so this bounds disk and not memory.")

    static let contentPixels = Setting(
        "content-pixels", .integer(1_000_000...4_294_967_296), default: 100_000_000, in: .storage,
        """
        How many pixels a picture may have, width times height. A phone needs about four bytes of memory for each, however small the file \
        is.
        """)
    static let contentQuota = Setting(
        "content-quota", .size(1_000_000...1_000_000_000_000_000), default: 1_000_000_000, in: .storage,
        """
        How many bytes the contents of one user may have together, those that wait to be sent and those that were. What is recalled \
        or refused or has had its time counts no more. At least content-limit.
        """)

    static let masterKey = Setting(
        "master-key", .optional(.masterKey), default: nil, in: .storage, secret: true,
        """
        The key under which the keys and credentials of hubs are stored. Without it the first start makes one and keeps it in \
        master-key in the data directory; whoever restores the database needs it too.
        """)

    static let role = Setting(
        "role", .choice, default: NodeRole.all, in: .nodes,
        """
        What this node does: all; api answers requests and leaves sending to others; worker sends and keeps things in order, and \
        answers only whether it is well. Nodes that share the work share database-url and master-key, and contents on S3.
        """)

    static let retentionContent = Setting(
        "retention-content", .duration(.seconds(86_400) ... .seconds(3650 * 86_400)), default: .seconds(30 * 86_400),
        in: .retention,
        """
        How long a send is kept after it ended: content, places in inboxes, receipts. One whose own expiry comes sooner goes at that. \
        Documentation/Retention.md says it for everything that is stored.
        """)
    static let retentionGrace = Setting(
        "retention-grace", .duration(.zero ... .seconds(30 * 86_400)), default: .seconds(86_400), in: .retention,
        """
        How much longer a send stays that would go. Apple keeps a push for up to 30 days; the phone that gets it at the last moment \
        has to be able to fetch.
        """)
    static let retentionAudit = Setting(
        "retention-audit", .duration(.seconds(86_400) ... .seconds(3650 * 86_400)), default: .seconds(180 * 86_400),
        in: .retention,
        "How long it is remembered which device changed hands or was replaced, and which user was removed.")

    static let listenHost = Setting(
        "listen-host", .host, default: "127.0.0.1", in: .listening,
        """
        The address the server listens on. Anything but this machine needs behind-tls-proxy, because passwords travel in every \
        request.
        """)
    static let listenPort = Setting(
        "listen-port", .listeningPort, default: 8080, in: .listening,
        "The port of the HTTP interface.")
    static let publicURL = Setting(
        "public-url", .optional(.siteURL), default: nil, in: .listening,
        "How phones and people reach the server: scheme, host and port. Set it when a proxy stands in front, so that its name is answered to."
    )
    static let behindTLSProxy = Setting(
        "behind-tls-proxy", .flag, default: false, in: .listening,
        "Says that a proxy in front ends TLS, so that listening beyond this machine is safe.")
    static let insecure = Setting(
        "insecure", .flag, default: false, in: .listening,
        "Allows listening beyond this machine with no TLS in front. Passwords can then be read on the way; for closed networks only."
    )
    static let trustedProxies = Setting(
        "trusted-proxies", .list(.addressRange), default: [], in: .listening,
        """
        The addresses whose X-Forwarded-For is believed when sign-in failures are counted. Empty means that the header is ignored: no \
        caller can blame another, and behind a proxy all callers count as one network.
        """)

    static let tlsListenHost = Setting(
        "tls-listen-host", .host, default: "127.0.0.1", in: .listening,
        "The address of the HTTPS interface, for HTTP/2 and HTTP/1.1 on one port.")
    static let tlsListenPort = Setting(
        "tls-listen-port", .optional(.listeningPort), default: nil, in: .listening,
        "The port of the HTTPS interface, customarily 8443. Without it there is no such listener.")
    static let tlsCertificatePath = Setting(
        "tls-certificate-path", .optional(.path), default: nil, in: .listening,
        """
        The certificate chain (PEM) of the HTTPS interface, the server's own first. It is read again when it changes. Without it \
        the server makes a local authority and a certificate of it, in tls in the data directory, for development.
        """)
    static let tlsKeyPath = Setting(
        "tls-key-path", .optional(.path), default: nil, in: .listening,
        "The private key (PEM) of that certificate; only the server needs to be able to read it.")
    static let tlsNames = Setting(
        "tls-names", .list(.host), default: [], in: .listening,
        "More names and addresses of this machine for the certificate that the local authority makes.")
    static let priorKnowledgePort = Setting(
        "prior-knowledge-port", .optional(.listeningPort), default: nil, in: .listening,
        """
        A port at listen-host for HTTP/2 without TLS, for a proxy or a client that knows beforehand. Without it there is no such \
        listener.
        """)

    static let connectionLimit = Setting(
        "connection-limit", .integer(16...1_000_000), default: 10_000, in: .listening,
        """
        How many connections may be open at once; more are answered 503. Where the system allows the process fewer open files \
        than twice this number, the limit is lower, and a line in the log says so.
        """)

    static let listenBacklog = Setting(
        "listen-backlog", .optional(.integer(16...65_535)), default: nil, in: .listening,
        """
        How many connections may wait on each listener until the server accepts them; a client beyond that has to try again, which takes \
        it a second. Without it as many as the system allows, at most 4096. The system caps it at net.core.somaxconn.
        """)

    static let requestLimit = Setting(
        "request-limit", .integer(16...1_000_000), default: 2_000, in: .listening,
        """
        How many requests of the app backend may be under way at once; more are answered 503 and told when to come back. One user may \
        have a quarter of them, and is answered 429 for more.
        """)

    static let metricsHost = Setting(
        "metrics-host", .host, default: "127.0.0.1", in: .metrics,
        "The address on which /metrics answers. It asks for no password; anything but this machine needs metrics-open.")
    static let metricsPort = Setting(
        "metrics-port", .optional(.listeningPort), default: nil, in: .metrics,
        "The port of /metrics for Prometheus, customarily 9464. Without it there is no such listener.")
    static let metricsOpen = Setting(
        "metrics-open", .flag, default: false, in: .metrics,
        "Allows /metrics beyond this machine. The numbers tell how much is asked of the server, never by whom.")

    static let logLevel = Setting(
        "log-level", .logLevel, default: .info, in: .logging,
        "How much is logged. info is meant for operators; debug and trace are for a fault that is being looked for.")
    static let logFormat = Setting(
        "log-format", .choice, default: LogFormat.text, in: .logging,
        "text for people, json for a collector: one object a line.")

    static let apnsEnvironment = Setting(
        "apns-environment", .choice, default: APNsEnvironment.production, in: .apns,
        "The world of devices that say none of their own: sandbox for builds from Xcode, production for TestFlight and the store."
    )
    static let apnsTopic = Setting(
        "apns-topic", .optional(.topic), default: nil, in: .apns,
        "The bundle id of the app. Needed with a signing key.")
    static let apnsTeamID = Setting(
        "apns-team-id", .optional(.tenLetters), default: nil, in: .apns,
        "The team that owns the signing key: ten letters and digits from Apple's developer site.")
    static let apnsKeyID = Setting(
        "apns-key-id", .optional(.tenLetters), default: nil, in: .apns,
        "The id of the signing key: ten letters and digits, also in the name of the .p8 that Apple hands out.")
    static let apnsKey = Setting(
        "apns-key", .optional(.secret), default: nil, in: .apns, secret: true,
        "The signing key itself, the text of the .p8. Give apns-key-path instead where the key lies in the file system.")
    static let apnsKeyPath = Setting(
        "apns-key-path", .optional(.path), default: nil, in: .apns,
        "Where the .p8 lies; only the server needs to be able to read it.")
    static let apnsHost = Setting(
        "apns-host", .optional(.host), default: nil, in: .apns,
        "Another host in place of Apple's, such as a local APNs. With the production environment it needs allow-local-apns.")
    static let apnsPort = Setting(
        "apns-port", .remotePort, default: 443, in: .apns,
        "The port at that host. Apple also answers on 2197, for networks that let 443 through for browsers only.")
    static let apnsProxy = Setting(
        "apns-proxy", .optional(.proxy), default: nil, in: .apns, secret: true,
        """
        An HTTP proxy that lets connections to Apple out by CONNECT, such as http://proxy.example:3128; name and password may \
        stand before the host. It resolves Apple's name; TLS runs through it untouched.
        """)
    static let apnsTrustRootsPath = Setting(
        "apns-trust-roots-path", .optional(.path), default: nil, in: .apns,
        "The certificates (PEM) that vouch for apns-host in place of the system's. A local APNs writes its own beside its data.")
    static let apnsSandboxHost = Setting(
        "apns-sandbox-host", .optional(.host), default: nil, in: .apns,
        """
        Another host for pushes of the sandbox only, in place of apns-host and of Apple's. Production then keeps apns-host, or Apple's \
        host where that is not set. Without it both environments use apns-host.
        """)
    static let apnsSandboxPort = Setting(
        "apns-sandbox-port", .optional(.remotePort), default: nil, in: .apns,
        "The port at apns-sandbox-host; 443 without it.")
    static let apnsSandboxTrustRootsPath = Setting(
        "apns-sandbox-trust-roots-path", .optional(.path), default: nil, in: .apns,
        "The certificates (PEM) that vouch for apns-sandbox-host in place of the system's.")
    static let allowLocalAPNs = Setting(
        "allow-local-apns", .flag, default: false, in: .apns,
        "Allows apns-host with the production environment. It keeps a slip from sending a real audience to a simulation.")

    static let hubName = Setting(
        "hub-name", .hubName, default: "hub", in: .notifications,
        "The name of the notification hub, the first word of its paths. Some words are taken: \(reservedHubNames.joined(separator: ", "))."
    )
    static let hubSendsPerSecond = Setting(
        "hub-sends-per-second", .optional(.integer(1...100_000)), default: nil, in: .notifications,
        """
        How many sends each hub takes in a second through the hub protocol; a client that is faster is told to wait. Without it \
        there is no such limit.
        """)
    static let hubWritesPerSecond = Setting(
        "hub-writes-per-second", .optional(.integer(1...100_000)), default: nil, in: .notifications,
        """
        How many changes of registrations and installations each hub takes in a second through the hub protocol; a client that is \
        faster is told to wait. Without it there is no such limit.
        """)
    static let remoteHubConnectionString = Setting(
        "remote-hub-connection-string", .optional(.secret), default: nil, in: .notifications, secret: true,
        """
        Makes the app backend send through a hub elsewhere, another Clarion or Azure's, in place of this node's own: \
        Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…, with the rights to listen and to send. Needs remote-hub-name.
        """)
    static let remoteHubName = Setting(
        "remote-hub-name", .optional(.text(limit: 260)), default: nil, in: .notifications,
        "The name of the hub elsewhere.")
    static let remoteHubTrustRootsPath = Setting(
        "remote-hub-trust-roots-path", .optional(.path), default: nil, in: .notifications,
        "The certificates (PEM) that vouch for the hub elsewhere besides the system's. A development node writes its own beside its data."
    )
    static let protectedTagPrefixes = Setting(
        "protected-tag-prefixes", .list(.tagPrefix), default: BackendSettings().protectedTagPrefixes, in: .notifications,
        """
        Tags with these beginnings are set by the server alone, or with a hub key that may: no user can give them to a device. Any other \
        tag is open to every user. username: is always among them, because access to content rests on it.
        """)
    static let neutralText = Setting(
        "neutral-text", .text(limit: 200), default: "You have a new message", in: .notifications,
        "What Apple carries, and what a phone shows until it has fetched the content, for a notification with a neutral preview.")
    static let defaultPicturePath = Setting(
        "default-picture-path", .optional(.path), default: nil, in: .notifications,
        "The picture of a notification that is sent without a body, as the first clients do. Without it the built-in one is used."
    )

    static let pushDeadline = Setting(
        "push-deadline", .duration(.seconds(1) ... .seconds(300)), default: .seconds(20), in: .endings,
        "How long one push may take at Apple's before it is not known whether it arrived.")
    static let shutdownDeadline = Setting(
        "shutdown-deadline", .duration(.seconds(1) ... .seconds(300)), default: .seconds(10), in: .endings,
        "How long a stopping server waits for requests and pushes under way. What is left goes on at the next start.")

    /// The names of hubs that would hide a path of the server.
    static let reservedHubNames = HubName.reserved

    /// Every setting, in the order of the reference page.
    static let all: [SettingDeclaration] =
        [
            dataDirectory.declaration, databaseURL.declaration, databaseConnections.declaration, databasePooler.declaration,
            databaseWithoutFsync.declaration,
            contentLimit.declaration, contentPixels.declaration, contentQuota.declaration, masterKey.declaration,
        ] + contentStore + [
            role.declaration,
            retentionContent.declaration, retentionGrace.declaration, retentionAudit.declaration,
            listenHost.declaration, listenPort.declaration, publicURL.declaration, behindTLSProxy.declaration,
            insecure.declaration,
            trustedProxies.declaration, tlsListenHost.declaration, tlsListenPort.declaration, tlsCertificatePath.declaration,
            tlsKeyPath.declaration, tlsNames.declaration, priorKnowledgePort.declaration, connectionLimit.declaration,
            listenBacklog.declaration, requestLimit.declaration,
            metricsHost.declaration, metricsPort.declaration, metricsOpen.declaration,
            logLevel.declaration, logFormat.declaration,
            apnsEnvironment.declaration, apnsTopic.declaration, apnsTeamID.declaration, apnsKeyID.declaration,
            apnsKey.declaration,
            apnsKeyPath.declaration, apnsHost.declaration, apnsPort.declaration, apnsProxy.declaration,
            apnsTrustRootsPath.declaration, apnsSandboxHost.declaration, apnsSandboxPort.declaration,
            apnsSandboxTrustRootsPath.declaration,
            allowLocalAPNs.declaration,
            hubName.declaration, hubSendsPerSecond.declaration, hubWritesPerSecond.declaration,
            remoteHubConnectionString.declaration, remoteHubName.declaration, remoteHubTrustRootsPath.declaration,
            protectedTagPrefixes.declaration,
            neutralText.declaration, defaultPicturePath.declaration,
        ] + users + hubLimits + [pushDeadline.declaration, shutdownDeadline.declaration]
}
