import APNsEmulation
import APNsHTTP2
import APNsProtocol
import DeviceSimulation
import Logging
import NIOPosix
import RichPushModel
import ServerSettings
import ServiceErrors
import SimulatedPhonePage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The tools beside the phones of a demo. Pushes by hand go through a client of their own, so that what is done to them does not
/// slow down the hub's.
struct DemoTools: PhoneTools {
    private static let host = "127.0.0.1"
    /// Longer than the delay that a developer can switch on.
    private static let pushDeadline: Duration = .seconds(10)

    private let apns: LocalAPNs
    private let port: Int
    private let authorityPath: String
    private let phones: [SimulatedPhone]
    private let faults: DemoFaults
    private let tokens: ProviderTokenCache
    private let client: APNsClient
    private let sender: DemoSender

    /// Creates tools for a local APNs that listens on `port`. Throws what is wrong with its folder.
    init(
        apns: LocalAPNs, port: Int, folder: EmulatorFolder, phones: [SimulatedPhone], faults: DemoFaults, sender: DemoSender,
        clock: any ServiceClock, logger: Logger
    ) throws {
        self.apns = apns
        self.port = port
        authorityPath = folder.authorityPath
        self.phones = phones
        self.faults = faults
        self.sender = sender
        let key = try ProviderTokenKey(pem: folder.signingKeyPEM, keyID: EmulatorFolder.keyID, teamID: EmulatorFolder.teamID)
        tokens = ProviderTokenCache(key: key, clock: clock)
        var configuration = APNsClientConfiguration(
            environment: .sandbox, credential: .token(tokens), endpoint: .init(host: Self.host, port: port),
            transport: .tls(.additional(pem: folder.authority.certificatePEM)))
        configuration.strictness = .wireOnly
        configuration.timing.pushDeadline = Self.pushDeadline
        client = try APNsClient(
            configuration: configuration, eventLoopGroup: .singletonMultiThreadedEventLoopGroup, logger: logger)
    }

    var samples: [PhoneSample] {
        DemoPhones.samples.map { kind, sample in
            PhoneSample(
                kind: kind, bytes: sample.data, mediaType: sample.mediaType,
                fileName: sample.fileName ?? Self.fileNames[kind] ?? "", altText: sample.altText)
        }.sorted { $0.fileName < $1.fileName }
    }

    /// For samples that stand for something that was just taken or recorded.
    private static let fileNames: [ContentKind: String] = [.image: "lighthouse.png", .sound: "chime.wav"]

    func shutdown() async { await client.shutdown() }

    func target(of phone: String) async throws -> PushTarget {
        PushTarget(
            host: Self.host, port: port, deviceToken: apns.issueToken(device: phone, topic: Settings.demoTopic),
            topic: Settings.demoTopic, authorization: "bearer \(try tokens.current().text)",
            authorityPath: URL(filePath: authorityPath).standardizedFileURL.path)
    }

    func send(_ push: HandPush, to phone: String) async throws -> HandPushAnswer {
        let type = APNsPushType(rawValue: push.pushType)
        guard let id = push.apnsId.map(UUID.init(uuidString:)) ?? UUID() else {
            throw ServiceError(.invalidField, "field 'apnsId': expected a UUID")
        }
        let name = id.uuidString.lowercased()
        let payload = Array(push.payload.utf8)
        let headers = APNsPush.Headers(
            topic: push.topic ?? Settings.demoTopic + (type.topicSuffix ?? ""), pushType: type, priority: push.priority,
            expiration: push.expiration, collapseID: push.collapseId)
        for each in phones where await each.snapshot.phone.id == phone {
            each.tell(
                .send, richID: PushEnvelope(payload: Data(payload))?.id, title: "A push was sent by hand",
                detail: ["push-type": push.pushType, "bytes": "\(payload.count)"], push: name)
        }
        let token = apns.issueToken(device: phone, topic: Settings.demoTopic)
        let outcome = await client.send(APNsPush(deviceToken: token, headers: headers, payload: payload, apnsID: id))
        return HandPushAnswer(outcome, id: name)
    }

    func send(_ draft: SealedDraft) async throws -> SealedDraftAnswer { try await sender.send(draft) }

    func faults(of phone: String) async -> PhoneFaults { faults[phone] }

    func set(_ faults: PhoneFaults, of phone: String) async throws {
        self.faults.set(faults, of: phone, at: apns, topic: Settings.demoTopic)
    }

    func retireToken(of phone: String) async throws {
        _ = apns.rotateToken(device: phone, topic: Settings.demoTopic)
        faults.strike(at: apns, topic: Settings.demoTopic)
    }
}

extension HandPushAnswer {
    fileprivate init(_ outcome: APNsOutcome, id: String) {
        switch outcome {
        case .accepted: self.init(status: 200, apnsId: id)
        case .rejected(let rejection):
            self.init(
                status: rejection.status, reason: rejection.reason.rawValue, apnsId: id, timestamp: rejection.timestamp)
        case .notSent(let failure), .unknown(let failure): self.init(status: nil, reason: failure.rawValue, apnsId: id)
        }
    }
}
