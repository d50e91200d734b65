import APNsEmulation
import APNsProtocol
import HTTPService
import Hummingbird
import ServerSettings
import ServiceErrors

/// Faults, rules and what is done to connections.
extension EmulatorRoutes {
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
        router.delete("/faults") { _, _ in
            apns.clearFaults()
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
        let reason = try action.reason.map { try ReasonWord.reason($0, isUnlisted: action.unlisted ?? false) }
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
