import HubProtocol
import PushHub

extension Settings {
    /// How much one request of the hub protocol may ask for, and how long its sends are tried.
    public struct HubBounds: Hashable, Sendable {
        /// Bytes of the body of a send.
        public var notificationBytes = HubLimits().notificationBytes
        /// Handles of a direct batch.
        public var batchHandles = HubLimits().batchHandles
        /// Tags of a registration or an installation.
        public var tags = HubLimits().tags
        /// How far ahead a send may be scheduled.
        public var scheduleHorizon = NotificationHub.Settings().scheduleHorizon
        /// How long a push without an expiry is tried.
        public var retryHorizon = DispatchSettings().retryHorizon
        /// Tries of a push of unknown outcome.
        public var unknownTries = RetryTable().unknownTries
        /// Registrations of a page.
        public var pageSize = HubLimits().pageSize
        /// Devices of a test send.
        public var testDevices = NotificationHub.Limits().testTargets
        /// Bytes of an installation.
        public var installationBytes = HubLimits().installationBytes
        /// Bytes of a file that a client puts.
        public var jobFileBytes: Int64 = 100 << 20
        /// Bytes of all files together.
        public var fileSpace: Int64 = 8 << 30

        /// What Azure's service has, and this product where that says nothing.
        public init() {}

        /// The same for who reads requests.
        package var ofRequests: HubLimits {
            var limits = HubLimits()
            limits.notificationBytes = notificationBytes
            limits.batchHandles = batchHandles
            limits.tags = tags
            limits.pageSize = pageSize
            limits.installationBytes = installationBytes
            return limits
        }

        /// The same for the hub.
        package var ofHub: NotificationHub.Limits {
            var limits = NotificationHub.Limits()
            limits.bodyBytes = notificationBytes
            limits.handles = batchHandles
            limits.tags = tags
            limits.testTargets = testDevices
            return limits
        }
    }
}

extension Settings.HubBounds {
    init(from resolver: inout SettingsResolver) {
        notificationBytes = Int(resolver.value(SettingCatalog.hubNotificationLimit))
        batchHandles = resolver.value(SettingCatalog.hubBatchHandles)
        tags = resolver.value(SettingCatalog.hubTagLimit)
        scheduleHorizon = resolver.value(SettingCatalog.hubScheduleHorizon)
        retryHorizon = resolver.value(SettingCatalog.hubRetryHorizon)
        unknownTries = resolver.value(SettingCatalog.unknownTries)
        pageSize = resolver.value(SettingCatalog.hubPageSize)
        testDevices = resolver.value(SettingCatalog.hubTestDevices)
        installationBytes = Int(resolver.value(SettingCatalog.hubInstallationLimit))
        jobFileBytes = resolver.value(SettingCatalog.hubJobFileLimit)
        fileSpace = resolver.value(SettingCatalog.hubFileSpace)
        // A hub has half of it at most, and an import writes about as much as it reads.
        if fileSpace / 4 < jobFileBytes {
            resolver.complain(
                SettingCatalog.hubFileSpace,
                "is less than four times hub-job-file-limit; one hub has at most half, so the largest file could never be imported"
            )
        }
    }
}
