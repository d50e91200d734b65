import AsyncHTTPClient
import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The first line that a process of a phone reads: all that app and extension are built with, and the folder that they share.
struct ProcessSetup: Codable, Sendable {
    var backend: URL
    var folder: URL
    var keepsPassword: Bool
    var opensSealedContent: Bool
    var showsTextWhenFetchFails: Bool
    var offersInForeground: Bool
    var offersReply: Bool
    var neutralText: String
    var moreTitle: String
    var replyTitle: String
    var replyFailedText: String
    var refreshTask: String?
    var limits: DeviceLimits
    var contentLimits: FileContentCache.Limits

    init(_ configuration: SimulatedPhoneConfiguration) {
        backend = configuration.app.backend
        folder = configuration.folder
        keepsPassword = configuration.app.keepsPasswordForSending
        opensSealedContent = configuration.app.opensSealedContent
        showsTextWhenFetchFails = configuration.app.showsTextWhenFetchFails
        offersInForeground = configuration.app.offersInForeground
        offersReply = configuration.app.offersReply
        neutralText = configuration.app.neutralText
        moreTitle = configuration.app.moreTitle
        replyTitle = configuration.app.replyTitle
        replyFailedText = configuration.app.replyFailedText
        refreshTask = configuration.app.refreshTask
        limits = configuration.app.limits
        contentLimits = configuration.contentLimits
    }

    func configuration() throws -> RichPushConfiguration {
        var configuration = try RichPushConfiguration(backend: backend)
        configuration.keepsPasswordForSending = keepsPassword
        configuration.opensSealedContent = opensSealedContent
        configuration.showsTextWhenFetchFails = showsTextWhenFetchFails
        configuration.offersInForeground = offersInForeground
        configuration.offersReply = offersReply
        configuration.neutralText = neutralText
        configuration.moreTitle = moreTitle
        configuration.replyTitle = replyTitle
        configuration.replyFailedText = replyFailedText
        configuration.refreshTask = refreshTask
        configuration.limits = limits
        return configuration
    }

    /// The ports of a process of its own: nothing but the folder and the network is shared.
    func ports(isForApp: Bool, client: HTTPClient, log: any EventLog) throws -> DevicePorts {
        let clock = SystemClock()
        let folder = folder
        let transport = SwitchedTransport(
            connection: { NetworkSwitch.read(folder: folder) }, transport: AsyncHTTPTransport(client: client, clock: clock),
            clock: clock)
        return try DevicePorts.simulated(
            folder: folder, isForApp: isForApp, limits: contentLimits, transport: transport, clock: clock,
            identifiers: SystemIdentifierSource(), log: log)
    }
}

extension DevicePorts {
    /// The ports of a simulated app or extension on the folder of its phone. Each process opens the folder anew, as on a phone.
    static func simulated(
        folder: URL, isForApp: Bool, limits: FileContentCache.Limits, transport: any HTTPTransport,
        clock: any ServiceClock, identifiers: any IdentifierSource, log: any EventLog
    ) throws -> DevicePorts {
        let group = folder.appendingPathComponent("group")
        let data = ProtectedData(folder: folder)
        return DevicePorts(
            transport: transport,
            secrets: try SimulatedKeychain(folder: folder.appendingPathComponent("keychain"), isForApp: isForApp, data: data),
            store: ProtectedStore(store: try FileSharedStore(folder: group.appendingPathComponent("records")), data: data),
            cache: ProtectedCache(
                cache: try FileContentCache(folder: group.appendingPathComponent("content"), limits: limits), data: data),
            clock: clock, identifiers: identifiers, log: log,
            power: SimulatedPower(memory: folder.appendingPathComponent(SystemMemory.fileName)))
    }
}

/// The phone's switch for low power, as each of its processes sees it.
private struct SimulatedPower: PowerState {
    let memory: URL

    func isSavingPower() async -> Bool { SystemMemory.read(memory).settings.lowPower }
}
