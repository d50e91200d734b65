import APNsEmulation
import AsyncHTTPClient
import DeviceSimulation
import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes the phones of a demo: each with a folder of its own, all with the same app.
struct DemoPhones: Sendable {
    let directory: String
    /// Where the node will listen.
    let port: Int
    let clock: any ServiceClock
    /// How the phones reach the node.
    let client: HTTPClient

    /// A phone that is switched off.
    func phone(number: Int, apns: LocalAPNs) throws -> SimulatedPhone {
        let id = String(number)
        guard let backend = URL(string: "http://127.0.0.1:\(port)") else { throw ConfigurationError.badBackend }
        var app = try RichPushConfiguration(backend: backend)
        app.keepsPasswordForSending = true
        var configuration = SimulatedPhoneConfiguration(
            identity: PhoneSnapshot.Identity(id: id, name: "iPhone \(number)", model: "Simulated iPhone"), app: app,
            bundleID: Settings.demoTopic, folder: URL(filePath: directory + "/" + id))
        configuration.samples = Self.samples
        return try SimulatedPhone(
            configuration: configuration, service: LocalPushService(apns),
            transport: AsyncHTTPTransport(client: client, clock: clock), clock: clock)
    }

    private static let samples: [ContentKind: SimulatedPhoneConfiguration.Sample] = [
        .image: .init(
            data: Data(PackageResources.default_picture_png), mediaType: "image/png",
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
