import APNsEmulation
import AsyncHTTPClient
import DeviceSimulation
import RichPushDevice
import RichPushModel
import ServerComposition
import ServerSettings

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes the phones of a demo: each with a folder of its own, all with the same app; two iPhones are alice's and one is bob's, and the
/// Android phone is alice's.
struct DemoPhones: Sendable {
    private static let owners = [
        (name: "Alice’s iPhone", user: "alice", languages: ["en"]), (name: "Alice’s second", user: "alice", languages: ["en"]),
        (name: "Bob’s iPhone", user: "bob", languages: ["sv-SE", "en"]),
    ]
    /// How many phones a demo has.
    static let count = owners.count

    let directory: String
    /// Where the node will listen.
    let port: Int
    let clock: any ServiceClock
    /// How the phones reach the node.
    let client: HTTPClient
    /// What goes wrong when they fetch.
    let faults: DemoFaults

    /// An iPhone that is switched off.
    func phone(number: Int, apns: LocalAPNs) throws -> SimulatedPhone {
        var configuration = try configuration(Self.identity(number))
        configuration.activityTypes = Self.activityTypes
        configuration.hasWidgets = true
        if Self.owners.indices.contains(number - 1) { configuration.languages = Self.owners[number - 1].languages }
        return try SimulatedPhone(
            configuration: configuration, service: LocalPushService(apns), transport: transport(of: configuration), clock: clock)
    }

    /// The Android phone, switched off.
    func androidPhone(_ service: AndroidService) throws -> AndroidPhone {
        let configuration = try configuration(
            .init(
                id: "android", name: "Alice’s Android", model: "Simulated Android phone", owner: "alice", system: .android))
        return try service.phone(configuration, transport: transport(of: configuration), clock: clock)
    }

    private func configuration(_ identity: PhoneSnapshot.Identity) throws -> SimulatedPhoneConfiguration {
        guard let backend = URL(string: "http://127.0.0.1:\(port)") else { throw ConfigurationError.badBackend }
        var app = try RichPushConfiguration(backend: backend)
        app.keepsPasswordForSending = true
        app.offersReply = true
        app.refreshTask = Settings.demoTopic + ".refresh"
        var configuration = SimulatedPhoneConfiguration(
            identity: identity, app: app, bundleID: Settings.demoTopic, folder: URL(filePath: directory + "/" + identity.id))
        configuration.samples = Self.samples
        return configuration
    }

    private func transport(of configuration: SimulatedPhoneConfiguration) -> FaultyTransport {
        FaultyTransport(
            phone: configuration.identity.id, faults: faults, transport: AsyncHTTPTransport(client: client, clock: clock),
            clock: clock)
    }

    private static func identity(_ number: Int) -> PhoneSnapshot.Identity {
        let owner = owners.indices.contains(number - 1) ? owners[number - 1] : nil
        return PhoneSnapshot.Identity(
            id: String(number), name: owner?.name ?? "iPhone \(number)", model: "Simulated iPhone", owner: owner?.user)
    }

    /// The types of Live Activities that the demo's app has.
    private static let activityTypes = ["DeliveryAttributes", "MatchAttributes"]

    static let samples: [ContentKind: SimulatedPhoneConfiguration.Sample] = [
        .image: .init(
            data: Data(DefaultPictureSource.builtIn), mediaType: "image/png",
            altText: "A lighthouse and a sailing boat at sunset"),
        .sound: .init(data: Data(PackageResources.default_sound_wav), mediaType: "audio/wav", altText: "A short chime"),
        .video: .init(
            data: Data(PackageResources.sample_video_mp4), mediaType: "video/mp4",
            altText: "A lighthouse turns its beam over the evening sea", fileName: "lighthouse.mp4"),
        .file: .init(
            data: Data(PackageResources.boarding_pass_pdf), mediaType: "application/pdf",
            altText: "A boarding pass for one sailing", fileName: "Boarding pass.pdf"),
    ]
}

/// The push service of simulated phones: the device side of the local APNs.
struct LocalPushService: SimulatedPushService {
    private let apns: LocalAPNs

    init(_ apns: LocalAPNs) { self.apns = apns }

    func register(device: String, topic: String, name: String, isNew: Bool) async throws -> String {
        isNew
            ? apns.rotateToken(device: device, topic: topic, name: name)
            : apns.issueToken(device: device, topic: topic, name: name)
    }

    func connect(device: String) async throws -> AsyncStream<IncomingPush> {
        let pushes = apns.connect(device: device)
        return AsyncStream { continuation in
            let forwarding = Task {
                for await push in pushes { continuation.yield(IncomingPush(push)) }
                continuation.finish()
            }
            continuation.onTermination = { _ in forwarding.cancel() }
        }
    }

    func unregister(device: String, topic: String, name: String) async {
        let token = apns.issueToken(device: device, topic: topic, name: name)
        apns.invalidate(token: token, reason: .unregistered, at: SystemClock().now)
    }

    func follow(device: String, channel: String, app: String) async throws {
        try apns.subscribe(device: device, toChannel: channel, bundleID: app)
    }

    func unfollow(device: String, channel: String, app: String) async {
        try? apns.unsubscribe(device: device, fromChannel: channel, bundleID: app)
    }

    func disconnect(device: String) async { apns.disconnect(device: device) }
}

extension IncomingPush {
    /// A push of the local APNs as a phone gets it.
    init(_ push: DeliveredPush) {
        self.init(
            payload: Data(push.payload), pushType: push.pushType?.rawValue ?? "alert",
            apnsID: push.apnsID.uuidString.lowercased(), collapseID: push.collapseID, topic: push.bundleID, token: push.token,
            channel: push.channelID, priority: push.priority)
    }
}
