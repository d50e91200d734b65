/// The limits of the hub protocol, with what Azure's service has as defaults (Reference/AzureNotificationHubs.md#6-1).
extension SettingCatalog {
    static let hubNotificationLimit = Setting(
        "hub-notification-limit", .size(4_096...1_048_576), default: 65_536, in: .hubLimits,
        """
        The largest body of a send. What a push service takes is less: 4 KiB for Apple, and a larger push shows in telemetry as \
        InvalidNotificationSize.
        """)
    static let hubBatchHandles = Setting(
        "hub-batch-handles", .integer(1...10_000), default: 1_000, in: .hubLimits,
        "How many device handles one direct batch may name. Its body may have 4 KiB for each and is held in memory some four times."
    )
    static let hubTagLimit = Setting(
        "hub-tag-limit", .integer(1...1_000), default: 60, in: .hubLimits,
        "How many tags a registration or an installation may have. Fewer than before leaves what is stored as it is.")
    static let hubScheduleHorizon = Setting(
        "hub-schedule-horizon", .duration(.seconds(60) ... .seconds(366 * 86_400)), default: .seconds(7 * 86_400), in: .hubLimits,
        "How far ahead a send may be scheduled.")
    static let hubRetryHorizon = Setting(
        "hub-retry-horizon", .duration(.seconds(60) ... .seconds(30 * 86_400)), default: .seconds(1_800), in: .hubLimits,
        "How long a push is tried when its send gave no expiry; then it counts as undeliverable.")
    static let unknownTries = Setting(
        "hub-unknown-tries", .integer(1...10), default: 3, in: .hubLimits,
        """
        How often a push of type alert, fileprovider, mdm, widgets or controls is sent while APNs has not answered it, the first try \
        included. It may have arrived, so each further try may be a second copy. Pushes of all other types are sent once.
        """)
    static let hubPageSize = Setting(
        "hub-page-size", .integer(1...1_000), default: 100, in: .hubLimits,
        "How many registrations one page of a list has at most, whatever $top says. It also ends at 2 MiB of text.")
    static let hubTestDevices = Setting(
        "hub-test-devices", .integer(1...100), default: 10, in: .hubLimits,
        "How many devices a test send goes to; its answer waits for all of them.")
    static let hubInstallationLimit = Setting(
        "hub-installation-limit", .size(16_384...8_388_608), default: 262_144, in: .hubLimits,
        "The largest body of an installation or of a change of one.")
    static let hubJobFileLimit = Setting(
        "hub-job-file-limit", .size(1_000_000...1_000_000_000_000), default: 104_857_600, in: .hubLimits,
        "The largest file that a client may put for an import. Files are streamed, so this bounds disk and not memory.")
    static let hubFileSpace = Setting(
        "hub-file-space", .size(1_000_000...1_000_000_000_000_000), default: 8_589_934_592, in: .hubLimits,
        """
        How many bytes the files of imports, exports and feedback may have together. A hub may have as much of it as it leaves free: \
        one alone gets half, the next half of the rest. At least four times hub-job-file-limit, because an import writes about as much \
        as it reads. In a bucket it bounds the files of all nodes, and what other nodes wrote counts a minute later at most.
        """)

    /// Those above, in the order of the reference page.
    static let hubLimits: [SettingDeclaration] = [
        hubNotificationLimit.declaration, hubBatchHandles.declaration, hubTagLimit.declaration, hubScheduleHorizon.declaration,
        hubRetryHorizon.declaration, unknownTries.declaration, hubPageSize.declaration, hubTestDevices.declaration,
        hubInstallationLimit.declaration,
        hubJobFileLimit.declaration, hubFileSpace.declaration,
    ]
}
