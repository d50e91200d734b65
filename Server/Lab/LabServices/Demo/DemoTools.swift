import APNsEmulation
import APNsHTTP2
import APNsProtocol
import DeviceSimulation
import Logging
import NIOPosix
import RichPushDevice
import RichPushModel
import ServerSettings
import ServiceErrors
import SimulatedPhonePage
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The tools beside the phones of a demo. Pushes by hand go through a separate client, so that injected faults do not slow down
/// the hub's.
struct DemoTools: PhoneTools {
    private static let host = "127.0.0.1"
    /// Longer than the delay that a developer can switch on.
    private static let pushDeadline: Duration = .seconds(10)

    private let apns: LocalAPNs
    private let port: Int
    private let authorityPath: String
    private let phones: [SimulatedPhone]
    private let fcm: AndroidService
    private let faults: DemoFaults
    private let tokens: ProviderTokenCache
    private let client: APNsClient
    private let sender: DemoSender

    /// Creates tools for a local APNs that listens on `port`. Throws what is wrong with its folder.
    init(
        apns: LocalAPNs, port: Int, folder: EmulatorFolder, phones: [SimulatedPhone], fcm: AndroidService, faults: DemoFaults,
        sender: DemoSender, clock: any ServiceClock, logger: Logger
    ) throws {
        self.apns = apns
        self.port = port
        authorityPath = folder.authorityPath
        self.phones = phones
        self.fcm = fcm
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

    /// Throws for a phone that APNs does not know.
    private func requireApple(_ phone: String) async throws {
        for each in phones where await each.snapshot.phone.id == phone { return }
        throw ServiceError(.conflict, "an Android phone gets nothing from APNs; choose an iPhone")
    }

    func target(of phone: String) async throws -> PushTarget {
        try await requireApple(phone)
        return PushTarget(
            host: Self.host, port: port, deviceToken: apns.issueToken(device: phone, topic: Settings.demoTopic),
            topic: Settings.demoTopic, authorization: "bearer \(try tokens.current().text)",
            authorityPath: URL(filePath: authorityPath).standardizedFileURL.path)
    }

    func send(_ push: HandPush, to phone: String) async throws -> HandPushAnswer {
        try await requireApple(phone)
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
            each.record(
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
        if faults.apns != .none { try await requireApple(phone) }
        self.faults.set(faults, of: phone, at: apns, topic: Settings.demoTopic)
    }

    func retireToken(of phone: String) async throws {
        guard (try? await requireApple(phone)) != nil else { return try fcm.renewToken(of: phone) }
        _ = apns.rotateToken(device: phone, topic: Settings.demoTopic)
        faults.inject(into: apns, topic: Settings.demoTopic)
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

/// What goes wrong for the phones of a demo, by the id of the phone.
final class DemoFaults: Sendable {
    private let state = Mutex<[String: PhoneFaults]>([:])

    subscript(phone: String) -> PhoneFaults { state.withLock { $0[phone] ?? PhoneFaults() } }

    /// Sets the faults of a phone, and gives the local APNs those of all phones anew: it cannot take one back alone.
    func set(_ faults: PhoneFaults, of phone: String, at apns: LocalAPNs, topic: String) {
        state.withLock { $0[phone] = faults }
        inject(into: apns, topic: topic)
    }

    /// For device tokens that may have changed.
    func inject(into apns: LocalAPNs, topic: String) {
        let all = state.withLock { $0 }
        apns.clearFaults()
        for (device, faults) in all.sorted(by: { $0.key < $1.key }) {
            guard let fault = faults.apns.injected else { continue }
            apns.inject(fault, everyRequests: 1, token: apns.issueToken(device: device, topic: topic))
        }
    }
}

extension PhoneFaults.APNs {
    /// The fault to inject into the local APNs; `nil` for none.
    var injected: InjectedFault? {
        switch self {
        case .none: nil
        case .delay: .delay(.seconds(3))
        case .tooManyRequests: .status(429, .tooManyRequests)
        case .unavailable: .status(503, .serviceUnavailable)
        case .drop: .closeConnection(processed: false)
        }
    }
}

/// A phone's transport to the app backend. The faults of a demo affect downloads; `unauthorized` affects every request.
struct FaultyTransport: HTTPTransport {
    private static let slowness: Duration = .seconds(4)
    private static let markup = Data("<!doctype html><title>Not a picture</title>".utf8)

    let phone: String
    let faults: DemoFaults
    let transport: any HTTPTransport
    let clock: any ServiceClock

    func send(
        _ request: TransportRequest, maximumBytes: Int, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        if faults[phone].backend == .unauthorized { return Self.unauthorized }
        return try await transport.send(request, maximumBytes: maximumBytes, deadline: deadline)
    }

    func download(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        let fault = faults[phone].backend
        switch fault {
        case .unauthorized: return Self.unauthorized
        case .gone: return Self.refusal(404, "Not found", "not-found")
        case .failing: return Self.refusal(503, "Not ready", "not-ready")
        case .oversized: throw .tooLarge
        case .slow:
            guard deadline > Self.slowness else { return try await late(deadline) }
            do { try await clock.sleep(for: Self.slowness) } catch { throw .cancelled }
            return try await transport.download(
                request, to: file, maximumBytes: maximumBytes, deadline: deadline - Self.slowness)
        case .none, .damaged, .disguised:
            let answer = try await transport.download(request, to: file, maximumBytes: maximumBytes, deadline: deadline)
            if answer.status == 200, fault != .none { try spoil(file, fault) }
            return answer
        }
    }

    private func late(_ deadline: Duration) async throws(TransportError) -> TransportResponse {
        do { try await clock.sleep(for: deadline) } catch { throw .cancelled }
        throw .timedOut
    }

    /// Changes the bytes on their way, at the same length.
    private func spoil(_ file: URL, _ fault: PhoneFaults.Backend) throws(TransportError) {
        do {
            var bytes = try Data(contentsOf: file)
            guard let last = bytes.indices.last else { return }
            if fault == .damaged {
                bytes[last] ^= 0xFF
            } else {
                let size = min(bytes.count, Self.markup.count)
                bytes.replaceSubrange(bytes.startIndex..<bytes.startIndex + size, with: Self.markup.prefix(size))
            }
            try bytes.write(to: file)
        } catch {
            throw .fileNotWritable
        }
    }

    private static var unauthorized: TransportResponse { refusal(401, "Not signed in", "unauthenticated") }

    private static func refusal(_ status: Int, _ title: String, _ code: String) -> TransportResponse {
        let problem = Problem(
            type: "about:blank", title: title, status: status, detail: "switched on beside the phone", code: code)
        return TransportResponse(
            status: status, headers: ["content-type": "application/problem+json"],
            body: (try? JSONEncoder().encode(problem)) ?? Data())
    }
}
