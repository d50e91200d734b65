#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The app's configuration, the same for the app and its service extension.
public struct RichPushConfiguration: Hashable, Sendable {
    /// Where the app backend is: https, or http to this machine only. A path in it stays in front of every route.
    public let backend: URL
    public var limits = DeviceLimits()
    /// Whether the app keeps the user's password, out of the extension's reach, because it sends pushes itself. The narrow
    /// credential may not send.
    public var keepsPasswordForSending = false
    /// Whether this app opens end-to-end encrypted notifications: then each installation has a key and publishes its public half to
    /// senders. Otherwise such a notification shows the neutral text.
    public var opensSealedContent = true
    /// Whether a silent push whose content cannot be fetched still shows its text.
    public var showsTextWhenFetchFails = true
    /// Whether OK / More is offered while the app is in the foreground, as in the rich push tutorial; otherwise the system's
    /// banner.
    public var offersInForeground = true
    /// The hosts that a link may lead to, each written out, for example `shop.example.org`; a link to another is not offered.
    ///
    /// Absent, as it is by default, means any host over https: with a list, senders would need a new version of the app for a new host.
    /// Name the hosts where senders are not all trusted. In either case the link is shown before it is opened. Plain http leads to this
    /// machine only, and only while the backend is there too.
    public var linkHosts: Set<String>?
    /// What is shown when nothing better is known. Apps replace it by a text in their own language.
    public var neutralText = Self.englishNeutralText
    /// The title of the button that opens the content.
    public var moreTitle = Self.englishMoreTitle
    /// Whether the user may reply to a notification; the reply goes to its sender.
    public var offersReply = false
    /// The title of the reply button.
    public var replyTitle = Self.englishReplyTitle
    /// The text of the notification that informs the user that a reply could not be delivered.
    public var replyFailedText = Self.englishReplyFailedText
    /// The App Group that app and service extension share, for example `group.org.example.shop`. Their records, their content
    /// and the secrets that both read lie in it. Absent where there are no such groups.
    public var appGroup: String?
    /// The identifier of a background refresh, as the app's Info.plist lists it under `BGTaskSchedulerPermittedIdentifiers`.
    /// With it the app sends waiting receipts and reads its inbox now and then without being opened. Absent means never.
    public var refreshTask: String?

    /// The default texts; the Apple part of the SDK replaces them by the user's language.
    public static let englishNeutralText = "You have a new message"
    /// As above, for the button.
    public static let englishMoreTitle = "More"
    /// As above.
    public static let englishReplyTitle = "Reply"
    /// As above, for an answer that was not delivered.
    public static let englishReplyFailedText = "Your reply could not be delivered"

    /// Creates a configuration with the defaults.
    public init(backend: URL) throws(ConfigurationError) {
        guard Origin(backend)?.isAcceptable == true else { throw .insecureBackend }
        guard backend.query == nil, backend.fragment == nil, backend.user == nil else { throw .badBackend }
        self.backend = backend
    }

    /// Creates a configuration from constants in the app's source. A mistake in them ends the process at once; for an address from
    /// elsewhere use `init(backend:)`, which throws.
    public init(backend: URL, appGroup: String) {
        do throws(ConfigurationError) {
            try self.init(backend: backend)
        } catch {
            // Without user, password and query, in case the address has them.
            preconditionFailure("The backend at \(backend.host ?? "no host") cannot be used: \(error)")
        }
        self.appGroup = appGroup
    }
}

/// What is wrong with a configuration.
public enum ConfigurationError: Error, Hashable, Sendable {
    /// The backend's address is not https, and not http to this machine.
    case insecureBackend
    /// The backend's address has a query, a fragment or a user.
    case badBackend
}

/// Bounds on what the device does. The defaults follow the limits of the system (Reference/IOSClient.md#3, #6 and #8).
public struct DeviceLimits: Hashable, Sendable, Codable {
    /// For small calls.
    public var callDeadline: Duration = .seconds(15)
    /// For a content that the user waits for.
    public var openDeadline: Duration = .seconds(60)
    /// What the system needs of a background push's budget after the fetch.
    public var presentationReserve: Duration = .seconds(2)
    /// For the part of a sign-out that talks to the server; at most three fifths of it for what still waited to be sent.
    public var signOutDeadline: Duration = .seconds(5)
    /// For receipts that are sent beside a fetch.
    public var receiptDeadline: Duration = .seconds(4)
    /// The largest content that is accepted at all.
    public var maximumContentBytes: Int64 = 50 << 20
    /// The largest content that a background push fetches whole.
    public var maximumBackgroundBytes: Int64 = 10 << 20
    /// How old an outbox item may become.
    public var outboxAge: Duration = .seconds(7 * 86_400)
    /// How many outbox items are kept; the oldest go first.
    public var outboxCount = 500
    /// How many notifications the device remembers.
    public var inboxCount = 200
    /// The largest content that a background push fetches whole while the device saves power. The service extension fetches more for a
    /// notification only with full power, on a network whose use the user does not limit, and within `originalDeadline`.
    public var maximumSavingBytes: Int64 = 500 << 10
    /// The largest picture that the service extension fetches over a cellular network or a hotspot.
    public var maximumExpensiveBytes: Int64 = 2 << 20
    /// How long a notification waits for a picture of more than `maximumSavingBytes`; without it the text is shown.
    public var originalDeadline: Duration = .seconds(10)
    /// The shortest time between two refreshes in the background.
    public var refreshPause: Duration = .seconds(4 * 3600)
    /// How often an unchanged installation reports itself.
    public var heartbeat: Duration = .seconds(7 * 86_400)

    /// Creates the default limits.
    public init() {}
}

/// Scheme, host and port: what decides who may see the authorization header.
struct Origin: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased(), !host.isEmpty else { return nil }
        guard let port = url.port ?? (scheme == "https" ? 443 : scheme == "http" ? 80 : nil) else { return nil }
        self.scheme = scheme
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = port
    }

    /// https anywhere, http to this machine only.
    var isAcceptable: Bool { scheme == "https" || (scheme == "http" && isLoopback) }

    private var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
