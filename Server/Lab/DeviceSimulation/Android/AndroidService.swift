import FCMEmulation
import Logging
import NIOPosix
import RichPushDevice
import RichPushModel
import Synchronization

/// A local FCM with the Android phones of a demo on it. It begins anew with each run, and so do the tokens of the phones.
public final class AndroidService: Sendable {
    private static let project = "clarion-demo"

    private let fcm: LocalFCM
    private let phones = Mutex<[String: AndroidPhone]>([:])

    /// Creates a service that shows this certificate; nothing listens before `start`.
    public init(certificatePEM: String, privateKeyPEM: String, clock: any ServiceClock, logger: Logger) {
        let settings = LocalFCMSettings(
            identity: .init(certificatePEM: certificatePEM, privateKeyPEM: privateKeyPEM))
        fcm = LocalFCM(settings: settings, clock: clock, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
    }

    /// Listens on loopback. Returns the port, and the key file of a service account that is good for this run. Throws what is wrong with
    /// the certificate.
    public func start() async throws -> (port: Int, key: String) {
        let address = try await fcm.start()
        try fcm.addProject(Self.project)
        return (address.port, try fcm.makeKey(project: Self.project))
    }

    /// Makes a phone that is switched off. Throws when its folder cannot be made.
    public func phone(_ configuration: SimulatedPhoneConfiguration, transport: any HTTPTransport, clock: any ServiceClock) throws
        -> AndroidPhone
    {
        let id = configuration.identity.id
        let device = try fcm.addDevice(id, project: Self.project, package: configuration.bundleID)
        let phone = try AndroidPhone(configuration: configuration, device: device, transport: transport, clock: clock)
        phones.withLock { $0[id] = phone }
        return phone
    }

    /// The app gets another token; messages to the former one are answered `UNREGISTERED`. Throws for a phone that is not here.
    public func renewToken(of phone: String) throws { try fcm.device(phone)?.act(.renewToken) }

    /// Records in the phones' stories what FCM was asked, and why a message does not come, until `shutdown`. `onRequest` gets the rich
    /// notification of each message, and the id of the phone that it is for.
    public func record(onRequest: @Sendable (RichID, String) -> Void) async {
        var messages = RecentMessages()
        for await news in fcm.news {
            switch news {
            case .exchange(let exchange):
                guard let device = exchange.device, let phone = phones.withLock({ $0[device] }) else { continue }
                let id = Self.richID(of: exchange.message)
                if let id { onRequest(id, device) }
                record(exchange, id, at: phone)
                if let message = exchange.messageID { messages.note(id, of: message) }
            case .delivery(let delivery):
                guard let sentence = delivery.state.sentence else { continue }
                phones.withLock { $0[delivery.device] }?.record(
                    delivery.state == .stored ? .stored : .held, richID: messages[delivery.messageID], title: sentence,
                    push: delivery.messageID, at: delivery.at)
            }
        }
    }

    private func record(_ exchange: FCMExchange, _ id: RichID?, at phone: AndroidPhone) {
        let request = exchange.headers.merging(["bytes": "\(exchange.bodySize)", "project": exchange.project ?? ""]) { $1 }
        phone.record(
            .apnsRequest, richID: id, title: "FCM was asked, over TLS", detail: request, push: exchange.messageID,
            at: exchange.receivedAt)
        var answer = ["status": exchange.status.map { String($0) } ?? "none"]
        answer["reason"] = exchange.errorCode
        phone.record(
            .apnsAnswer, richID: id, title: exchange.status == 200 ? "FCM accepted it" : "FCM did not take it", detail: answer,
            push: exchange.messageID, at: exchange.receivedAt)
    }

    private static func richID(of message: JSONValue?) -> RichID? {
        guard case .text(let text)? = message?.members?["data"]?.members?["richId"] else { return nil }
        return RichID(text)
    }

    /// Closes every connection; the phones hear nothing more.
    public func shutdown() async { await fcm.shutdown() }

    /// Which messages were of which rich notification.
    private struct RecentMessages {
        private static let limit = 1_000
        private var ids: [String: RichID] = [:]
        private var order: [String] = []

        subscript(message: String) -> RichID? { ids[message] }

        mutating func note(_ id: RichID?, of message: String) {
            guard let id else { return }
            ids[message] = id
            order.append(message)
            if order.count > Self.limit { ids[order.removeFirst()] = nil }
        }
    }
}

extension FCMDeliveryRecord.State {
    /// Human-readable; `nil` for what the phone records itself.
    fileprivate var sentence: String? {
        switch self {
        case .stored: "FCM keeps it: the phone is away, in Doze or locked since its start, or its app was stopped"
        case .delivered, .uninstalled: nil
        case .collapsed: "A newer message with the same collapse key replaced it"
        case .expired: "FCM dropped it: its time was over before the phone could take it"
        case .dropped: "FCM dropped it: too many messages waited for the phone"
        case .missed: "FCM dropped it: the phone was away, and the message was to be tried once only"
        }
    }
}
