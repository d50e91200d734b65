import APNsEmulation
import APNsProtocol
import HTTPService
import Hummingbird
import NIOCore
import ServerSettings
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What was asked, what became of it, and how the client behaved.
extension EmulatorRoutes {
    private struct Exchange: Encodable {
        var connection: Int
        var stream: Int
        var method: String
        var path: String
        var headers: [[String]]
        var payload: String
        var payloadSize: Int
        var status: Int?
        var reason: String?
        var apnsId: String?
        var uniqueId: String?

        init(_ exchange: APNsExchange) {
            connection = exchange.connection
            stream = exchange.stream
            method = exchange.method
            path = exchange.path
            headers = exchange.headers.map { [$0.name, $0.value] }
            payload = String(validating: exchange.payload, as: UTF8.self) ?? Data(exchange.payload).base64EncodedString()
            payloadSize = exchange.payloadSize
            status = exchange.answer?.status
            reason = exchange.answer?.reason?.rawValue
            apnsId = exchange.answer?.apnsID
            uniqueId = exchange.answer?.uniqueID
        }
    }

    private struct Frame: Encodable {
        var connection: Int
        var direction: FrameRecord.Direction
        var type: String
        var flags: UInt8
        var stream: Int
        var length: Int

        init(_ frame: FrameRecord) {
            connection = frame.connection
            direction = frame.direction
            type = frame.name
            flags = frame.flags
            stream = frame.stream
            length = frame.length
        }
    }

    private struct Delivery: Encodable {
        var uniqueId: String
        var apnsId: String
        var device: String
        var topic: String
        var state: String

        init(_ record: DeliveryRecord) {
            uniqueId = record.uniqueID.uuidString.lowercased()
            apnsId = record.apnsID.uuidString.lowercased()
            device = record.device
            topic = record.topic
            state = record.state.rawValue
        }
    }

    func addRecordRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        router.get("/requests") { _, _ in try Response.json(apns.recordedExchanges.map(Exchange.init)) }
        router.get("/frames") { _, _ in try Response.json(apns.recordedFrames.map(Frame.init)) }
        router.get("/traffic") { _, _ in try Response.json(apns.traffic) }
        router.get("/complaints") { _, _ in try Response.json(apns.complaints) }
        let clearing: [(RouterPath, @Sendable () -> Void)] = [
            ("/requests", apns.clearRequests), ("/frames", apns.clearFrames), ("/complaints", apns.clearComplaints),
            ("/deliveries", apns.clearDeliveries), ("/faults", apns.clearFaults),
        ]
        for (path, clear) in clearing {
            router.delete(path) { _, _ in
                clear()
                return Response(status: .noContent)
            }
        }
        router.get("/deliveries") { _, _ in try Response.json(apns.deliveries.map(Delivery.init)) }
        router.get("/deliveries/{uniqueID}") { _, context in
            guard let id = UUID(uuidString: try name("uniqueID", context)) else {
                throw ServiceError(.invalidField, "uniqueID is a UUID, as in apns-unique-id")
            }
            return try Response.json(apns.deliveries(uniqueID: id).map(Delivery.init))
        }
    }

    // MARK: Faults, rules and what is done to connections

    /// `POST /connections`: something that happens to every connection now.
    struct ConnectionAction: AdministrationBody {
        static let kinds = FieldsByKind(
            kindField: "action", shared: [],
            own: [
                "goAway": ["reason", "unlisted", "pauseMilliseconds"], "reset": [], "drop": [], "wedge": [], "blackHole": [],
                "limit": ["streams"], "settings": ["streams", "initialWindowSize", "maximumFrameSize"],
            ])
        static let fields = kinds.all

        var action: String
        var reason: String?
        /// Whether the reason may be one that Apple does not document.
        var unlisted: Bool?
        /// Between the two steps of a graceful GOAWAY.
        var pauseMilliseconds: Int?
        var streams: Int?
        /// For `settings`.
        var initialWindowSize: Int?
        var maximumFrameSize: Int?
    }

    /// `POST /provider-tokens/expire`: tokens minted before this second count as expired; without it none do.
    struct Expiry: AdministrationBody {
        static let fields: Set<String> = ["issuedBefore"]

        var issuedBefore: Int64?
    }

    func addFaultRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        router.post("/faults") { request, _ in
            try FaultDocument.read(await request.jsonBytes()).inject(into: apns)
            return Response(status: .noContent)
        }
        router.post("/connections") { request, _ in
            let bytes = try await request.jsonBytes()
            let action = try JSONFields.decode(ConnectionAction.self, from: bytes, known: ConnectionAction.fields)
            try ConnectionAction.kinds.check(action.action, in: bytes)
            try await act(action)
            return Response(status: .noContent)
        }
        router.post("/provider-tokens/expire") { request, _ in
            apns.expireProviderTokens(issuedBefore: try await request.readStrictly(Expiry.self).issuedBefore)
            return Response(status: .noContent)
        }
        router.get("/rules") { _, _ in
            let rules = apns.rules
            return try Response.json(RuleSwitch.byName.mapValues { $0.read(rules) })
        }
        router.patch("/rules") { request, _ in
            let values = try await request.readJSON([String: RuleValue].self)
            try apns.changeRules { rules in
                // A copy first: a wrong value changes nothing.
                var changed = rules
                for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                    guard let known = RuleSwitch.byName[name] else {
                        let meant = Spelling.nearest(to: name, among: RuleSwitch.byName.keys.sorted())
                        let hint = meant.map { "did you mean \($0)?" } ?? "GET /rules lists them"
                        throw ServiceError(.invalidField, "no rule has this name; \(hint)")
                    }
                    try known.set(value, in: &changed)
                }
                rules = changed
            }
            return Response(status: .noContent)
        }
    }

    private func act(_ action: ConnectionAction) async throws {
        let reason = try action.reason.map { try ReasonParser.reason($0, isUnlisted: action.unlisted ?? false) }
        switch action.action {
        case "goAway":
            if let pause = action.pauseMilliseconds {
                let milliseconds = try FaultDocument.within(pause, 0...3_600_000, "pauseMilliseconds")
                await apns.goAway(reason: reason, pause: .milliseconds(milliseconds))
            } else {
                await apns.goAway(reason: reason)
            }
        case "reset": await apns.resetConnections()
        case "drop": await apns.dropConnections()
        case "wedge": await apns.wedgeConnections()
        case "blackHole": await apns.blackHoleConnections()
        case "limit":
            await apns.announce(streamLimit: try FaultDocument.within(action.streams, 0...1_000_000, "streams"))
        case "settings":
            let settings = SettingsDocument(
                streams: action.streams, initialWindowSize: action.initialWindowSize, maximumFrameSize: action.maximumFrameSize)
            await apns.announce(try settings.change())
        default:
            throw ServiceError(.invalidField, "field 'action': expected goAway, reset, drop, wedge, blackHole, limit or settings")
        }
    }
}

/// A push as a subscriber of the local APNs reads it: one server-sent event with a line of JSON.
struct PushEvent {
    private struct Wire: Encodable {
        var apnsId: String
        /// The device token that it was sent to.
        var token: String
        var topic: String
        var pushType: String?
        var priority: Int
        var collapseId: String?
        /// The channel of a broadcast.
        var channelId: String?
        var stored: Bool
        /// The body as sent; base64 when it is not UTF-8.
        var payload: String
    }

    private let push: DeliveredPush

    init(_ push: DeliveredPush) { self.push = push }

    var buffer: ByteBuffer {
        let wire = Wire(
            apnsId: push.apnsID.uuidString.lowercased(), token: push.token, topic: push.topic, pushType: push.pushType?.rawValue,
            priority: push.priority, collapseId: push.collapseID, channelId: push.channelID, stored: push.storedWhileOffline,
            payload: String(validating: push.payload, as: UTF8.self) ?? Data(push.payload).base64EncodedString())
        let json = (try? JSONEncoder().encode(wire)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return ByteBuffer(string: "event: push\ndata: \(json)\n\n")
    }
}
