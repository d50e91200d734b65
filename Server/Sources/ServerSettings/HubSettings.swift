import AppBackend
import CalendarTime
import HubProtocol
import PushHub
import SharedAccess

/// Which hub notifications go through, and what they carry.
public struct NotificationSettings: SettingGroup {
    package let hubName = Setting(
        "hub-name", .hubName, default: "hub",
        """
        The name of the notification hub, the first word of its paths. Some words are taken: \
        \(HubName.reserved.filter { !$0.contains(".") }.joined(separator: ", ")).
        """
    )
    package let hubSendsPerSecond = Setting(
        "hub-sends-per-second", .optional(.integer(1...100_000)), default: nil,
        """
        How many sends each hub takes in a second through the hub protocol; a faster client is answered 429. Without it \
        there is no such limit.
        """)
    package let hubWritesPerSecond = Setting(
        "hub-writes-per-second", .optional(.integer(1...100_000)), default: nil,
        """
        How many changes of registrations and installations each hub takes in a second through the hub protocol; a faster \
        client is answered 429. Without it there is no such limit.
        """)
    package let remoteHubConnectionString = Setting(
        "remote-hub-connection-string", .optional(.secret), default: nil, secret: true,
        """
        Makes the app backend send through a hub elsewhere, another Clarion or Azure's, in place of this node's own: \
        Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…, with the rights to listen and to send. Needs remote-hub-name.
        """)
    package let remoteHubName = Setting(
        "remote-hub-name", .optional(.text(limit: 260)), default: nil,
        "The name of the hub elsewhere.")
    package let remoteHubTrustRootsPath = Setting(
        "remote-hub-trust-roots-path", .optional(.path), default: nil,
        "The certificates (PEM) that vouch for the hub elsewhere besides the system's. A development node writes its own beside its data."
    )
    package let protectedTagPrefixes = Setting(
        "protected-tag-prefixes", .list(.tagPrefix), default: BackendSettings().protectedTagPrefixes,
        """
        Tags with these beginnings are set by the server alone, or with a hub key that may: no user can give them to a device. Any other \
        tag is open to every user. username: is always among them, because access to content rests on it.
        """)
    package let neutralText = Setting(
        "neutral-text", .text(limit: 200), default: "You have a new message",
        "What Apple carries, and what a phone shows until it has fetched the content, for a notification with a neutral preview.")
    package let quietHours = Setting(
        "quiet-hours", .optional(.quietHours), default: nil,
        """
        The hours in which no phone shows a new notification, by its own clock, such as 22:00-08:00. What is sent then leaves when they \
        end, unless the sender marks it as transactional. Silent pushes are not held back.
        """)
    package let quietHoursZone = Setting(
        "quiet-hours-zone", .text(limit: 64), default: BackendSettings().quietHoursZone,
        "The time zone of devices that do not report theirs, such as Europe/Berlin. It decides when quiet-hours are there.")
    package let userQuietHours = Setting(
        "user-quiet-hours", .flag, default: BackendSettings().userQuietHours,
        """
        Whether users may have quiet hours of their own, which the app's backend or an administrator sets. What is sent in them leaves \
        when they end, as with quiet-hours.
        """)
    package let frequencyCaps = Setting(
        "frequency-caps", .list(.frequencyCap), default: [],
        """
        How many sends of a kind a user gets at most, such as marketing=3/7d for three in seven days. It counts sends that name it \
        (frequencyCap), for all devices of a user together. A send beyond that is not pushed to the user, and is still in their inbox.
        """)
    package let approvalAbove = Setting(
        "approval-above", .optional(.integer(1...10_000)), default: nil,
        """
        A person who sends to more devices than this needs the approval of another person: a sender or an administrator. Service keys need \
        none. Without it no send needs an approval.
        """)
    package let defaultPicturePath = Setting(
        "default-picture-path", .optional(.path), default: nil,
        "The picture of a notification that is sent without a body, as the first clients do. Without it the built-in one is used."
    )
}

/// The limits of the hub protocol, with what Azure's service has as defaults (Reference/AzureNotificationHubs.md#6-1).
public struct HubLimitSettings: SettingGroup {
    package let notificationBytes = Setting(
        "hub-notification-limit", .size(4_096...1_048_576), default: 65_536,
        """
        The largest body of a send. What a push service takes is less: 4 KiB for Apple, and a larger push shows in telemetry as \
        InvalidNotificationSize.
        """)
    package let batchHandles = Setting(
        "hub-batch-handles", .integer(1...10_000), default: 1_000,
        "How many device tokens one direct batch may name. Its body may have 4 KiB for each and is held in memory some four times."
    )
    package let tags = Setting(
        "hub-tag-limit", .integer(1...1_000), default: 60,
        "How many tags a registration or an installation may have. Fewer than before leaves what is stored as it is.")
    package let scheduleHorizon = Setting(
        "hub-schedule-horizon", .duration(.seconds(60) ... .seconds(366 * 86_400)), default: .seconds(7 * 86_400),
        "How far ahead a send may be scheduled.")
    package let retryHorizon = Setting(
        "hub-retry-horizon", .duration(.seconds(60) ... .seconds(30 * 86_400)), default: .seconds(1_800),
        """
        How long a push is tried when its send gave no expiry; then it counts as undeliverable. Below 990s a push may get no second \
        try after 500 InternalServerError, because Apple asks for a wait of 15 minutes.
        """)
    package let unknownTries = Setting(
        "hub-unknown-tries", .integer(1...10), default: 3,
        """
        How often a push of type alert, fileprovider, mdm, widgets or controls is sent while APNs has not answered it, the first try \
        included. It may have arrived, so each further try may be a second copy. Pushes of all other types are sent once.
        """)
    package let pageSize = Setting(
        "hub-page-size", .integer(1...1_000), default: 100,
        "How many registrations one page of a list has at most, whatever $top says. It also ends at 2 MiB of text.")
    package let testDevices = Setting(
        "hub-test-devices", .integer(1...100), default: 10,
        "How many devices a test send goes to; its answer waits for all of them.")
    package let installationBytes = Setting(
        "hub-installation-limit", .size(16_384...8_388_608), default: 262_144,
        "The largest body of an installation or of a change of one.")
    package let jobFileBytes = Setting(
        "hub-job-file-limit", .size(1_000_000...1_000_000_000_000), default: 104_857_600,
        "The largest file that a client may put for an import. Files are streamed, so this bounds disk and not memory.")
    package let fileSpace = Setting(
        "hub-file-space", .size(1_000_000...1_000_000_000_000_000), default: 8_589_934_592,
        """
        How many bytes the files of imports, exports and feedback may have together. A hub may have as much of it as it leaves free: \
        one alone gets half, the next half of the rest. At least four times hub-job-file-limit, because an import writes about as much \
        as it reads. In a bucket it bounds the files of all nodes, and what other nodes wrote counts a minute later at most.
        """)
}

extension Settings {
    /// A hub elsewhere.
    public struct RemoteHub: Hashable, Sendable {
        /// Where it is and with which key; prints without the key.
        public var connection: ConnectionString
        public var name: String
        /// A PEM file with certificates that vouch for it besides the system's.
        public var trustRootsPath: String?
    }
}

extension GroupedSettings where Group == HubLimitSettings {
    /// The limits as the request parsers take them.
    package var ofRequests: HubLimits {
        var limits = HubLimits()
        limits.notificationBytes = Int(self.notificationBytes)
        limits.batchHandles = self.batchHandles
        limits.tags = self.tags
        limits.pageSize = self.pageSize
        limits.installationBytes = Int(self.installationBytes)
        return limits
    }

    /// The same for the hub.
    package var ofHub: NotificationHub.Limits {
        var limits = NotificationHub.Limits()
        limits.bodyBytes = Int(self.notificationBytes)
        limits.handles = self.batchHandles
        limits.tags = self.tags
        limits.testTargets = self.testDevices
        return limits
    }
}

extension SettingsResolver {
    mutating func checkNotifications() {
        requireReadable(\.notifications.defaultPicturePath)
        if !settings.notifications.protectedTagPrefixes.contains("username:") {
            complain(\.notifications.protectedTagPrefixes, "must hold username:, because access to content rests on it")
        }
        if TimeZoneDatabase().zone(settings.notifications.quietHoursZone) == nil {
            complain(\.notifications.quietHoursZone, "is no zone of the tz database of this machine; Europe/Berlin is one")
        }
        let caps = settings.notifications.frequencyCaps
        for name in Set(caps.map(\.name)).sorted() where caps.count(where: { $0.name == name }) > 1 {
            complain(\.notifications.frequencyCaps, "has \(name) more than once; each name has one limit")
        }
        // A hub has half of it at most, and an import writes about as much as it reads.
        if settings.hubBounds.fileSpace / 4 < settings.hubBounds.jobFileBytes {
            complain(
                \.hubBounds.fileSpace,
                "is less than four times hub-job-file-limit; one hub has at most half, so the largest file could never be imported"
            )
        }
    }

    /// Makes the hub elsewhere, if its connection string or its name is set; then both must be.
    mutating func checkRemoteHub() {
        let (secret, name) = (settings.notifications.remoteHubConnectionString, settings.notifications.remoteHubName)
        let path = settings.notifications.remoteHubTrustRootsPath
        checkTrustRoots(\.notifications.remoteHubTrustRootsPath)
        let sentence = "is needed too: remote-hub-connection-string and remote-hub-name belong together"
        if secret == nil, name != nil { complain(\.notifications.remoteHubConnectionString, sentence) }
        if secret != nil, name == nil { complain(\.notifications.remoteHubName, sentence) }
        if path != nil, secret == nil {
            complain(
                \.notifications.remoteHubTrustRootsPath, "is for a hub elsewhere; set remote-hub-connection-string as well")
        }
        if secret != nil, settings.notifications.quietHours != nil {
            complain(
                \.notifications.quietHours, "cannot be kept with a hub elsewhere, which does not know the time zones of devices")
        }
        if secret != nil, settings.notifications.userQuietHours {
            complain(
                \.notifications.userQuietHours, "cannot be on with a hub elsewhere, which does not know the time zones of devices"
            )
        }
        if secret != nil, !settings.notifications.frequencyCaps.isEmpty {
            complain(
                \.notifications.frequencyCaps, "cannot be kept with a hub elsewhere, which does not count sends by user")
        }
        if secret != nil, settings.notifications.approvalAbove != nil {
            complain(\.notifications.approvalAbove, "cannot be kept with a hub elsewhere, which does not count audiences")
        }
        guard let secret, let name else { return }
        do throws(ConnectionStringFault) {
            settings.remoteHub = Settings.RemoteHub(
                connection: try ConnectionString(secret.reveal()), name: name, trustRootsPath: path)
        } catch {
            complain(\.notifications.remoteHubConnectionString, "cannot be used: \(error.description)")
        }
    }
}
