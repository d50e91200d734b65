import APNsHTTP2
import APNsProtocol
import Logging
import NIOCore
import NIOPosix
import PushHub
import RichPushModel
import ServerDelivery
import ServerSettings
import ServiceErrors

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Settings {
    /// Where a server listens, by the names of the checks.
    fileprivate var listeners: [(name: String, address: Address, setting: String)] {
        let plain = self.listening.address
        var listeners = [(name: "listening port", address: plain, setting: "listen-port")]
        if let tls = self.listening.tls { listeners.append(("HTTPS port", tls.address, "tls-listen-port")) }
        if let port = self.listening.priorKnowledgePort {
            listeners.append(("prior-knowledge port", Address(host: plain.host, port: port), "prior-knowledge-port"))
        }
        if let metrics { listeners.append(("metrics port", metrics, "metrics-port")) }
        return listeners
    }
}

extension Doctor {
    /// One check for each listener that the settings ask for.
    static func portChecks(_ settings: Settings) -> [DoctorCheck] {
        settings.listeners.map { listener in
            DoctorCheck(listener.name) { await portFinding(listener.address, setting: listener.setting) }
        }
    }

    private static func portFinding(_ address: Settings.Address, setting: String) async -> DoctorCheck.Finding {
        var isTaken = false
        do {
            try await ListenerFault.explained(address, setting: setting) {
                do {
                    // As the server does: connections that have ended but are not forgotten yet do not keep it from the port.
                    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                        .bind(host: address.host, port: address.port).get()
                    try await channel.close()
                } catch let error as IOError {
                    isTaken = error.errnoCode == EADDRINUSE
                    throw error
                }
            }
            return .good("\(address.host):\(address.port) is free")
        } catch {
            let reason = (error as? ServiceError)?.detail ?? "\(address.host) is no address that can be listened on"
            if isTaken { return .notice(reason, remedy: "if that is a running Clarion, all is well; a start fails on it") }
            return .bad(reason, remedy: "correct \(setting), or the host beside it")
        }
    }

    /// The way to a push service, which is looked at where the node or a hub has a credential for it.
    ///
    /// - Parameters:
    ///   - isSet: whether the node has one.
    ///   - none: what neither has.
    static func way(
        to platform: Platform, _ isSet: Bool, _ settings: Settings, none: String, _ look: () async -> DoctorCheck.Finding
    ) async -> DoctorCheck.Finding {
        guard !isSet else { return await look() }
        let none = DoctorCheck.Finding.good("not needed: neither the node nor a hub has \(none)")
        return await finding(settings, remedy: "see what is said of the database", none: { none }) { database in
            // Nothing is opened, so any key will do.
            try await opening(database, with: .random(), settings, none: none) { hubs in
                try await Self.hubs(of: hubs, withCredentialFor: platform).isEmpty ? none : await look()
            }
        }
    }

    static func hubs(of hubs: HubRegistry, withCredentialFor platform: Platform) async throws -> [HubRecord] {
        var found: [HubRecord] = []
        var last: HubName?
        while true {
            let page = try await hubs.hubs(after: last)
            found += page.filter { $0.sealedCredentials[platform] != nil }
            guard page.count == HubRegistry.maximumPage else { return found }
            last = page.last?.name
        }
    }

    /// One check for each environment that has a host of its own.
    static func apnsChecks(_ settings: Settings) -> [DoctorCheck] {
        let environments = settings.apns.environmentsInUse
        return environments.map { environment in
            let name = environments.count == 1 ? "way to APNs" : "way to APNs for \(environment.rawValue)"
            return DoctorCheck(name) {
                await way(to: .apns, settings.apns.credential != nil, settings, none: "a credential for APNs") {
                    let place = settings.apns.place(for: environment)
                    guard let trust = try? place.trust() else {
                        return .bad("\(place.trustRootsPath ?? "") cannot be read", remedy: "set \(place.trustRootsSetting)")
                    }
                    return await DoctorRoute(place).finding(trust, proxy: place.proxy)
                }
            }
        }
    }
}

/// The route to a push service, and what helps where it fails.
struct DoctorRoute {
    var host: String
    var port: Int
    /// What answers first: a proxy, or the service itself.
    var next: (host: String, port: Int)
    var remedyForClosedPort: String
    var remedyForSilence: String
    var remedyForTLS: String

    /// Connects, and names the step that fails: name, route, port or TLS.
    func finding(_ trust: APNsClientConfiguration.Trust, proxy: APNsProxy? = nil) async -> DoctorCheck.Finding {
        let endpoint = APNsClientConfiguration.Endpoint(host: host, port: port)
        let check = APNsHandshakeCheck(of: endpoint, trust: trust, proxy: proxy)
        return finding(about: await check.look(within: .seconds(5), now: SystemClock().now))
    }

    private func finding(about finding: APNsHandshakeCheck.Finding) -> DoctorCheck.Finding {
        let (next, nextPort) = self.next
        switch finding {
        case .sound: return .good("\(host):\(port) answers, over TLS and HTTP/2")
        case .unresolved:
            return .bad(
                "name: \(next) has no address, or no name service answers",
                remedy: "check the spelling of the name, and the name service of this machine: getent hosts \(next)")
        case .noRoute(let reason):
            return .bad(
                "route: this machine has no way to \(next) (\(reason))", remedy: "check the network and its firewall: ip route")
        case .portClosed:
            return .bad("port: \(next) answers, and nothing listens on port \(nextPort)", remedy: remedyForClosedPort)
        case .unreachable:
            return .bad("port: \(next):\(nextPort) does not answer within 5 s", remedy: remedyForSilence)
        case .refused(let reason):
            return .bad("TLS: \(host):\(port) answers, but TLS fails: \(reason)", remedy: remedyForTLS)
        }
    }
}

extension DoctorRoute {
    /// The route to APNs.
    fileprivate init(_ place: APNsPlace) {
        (host, port) = (place.host, place.port)
        next = place.proxy.map { ($0.host, $0.port) } ?? (place.host, place.port)
        remedyForClosedPort =
            place.isStandard && place.proxy == nil
            ? "let the machine connect out on port \(port), or set apns-port: 2197"
            : "start what should listen there, or correct the port"
        remedyForSilence = "let the machine connect out on port \(next.port), or set apns-port: 2197"
        remedyForTLS =
            place.isStandard
            ? "a proxy may be breaking TLS open; let the machine connect to Apple directly"
            : "set \(place.trustRootsSetting) to the authority of \(host), and \(place.hostSetting) to a name in its certificate"
    }
}

extension Doctor {
    static func credentialCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("signing key") {
            guard let credential = settings.apns.credential else {
                let others = settings.pushedPlatforms.joined(separator: " and ")
                let apple = "for Apple's devices set apns-topic, apns-team-id, apns-key-id and apns-key-path"
                guard others.isEmpty else {
                    return .notice("there is none, so the node pushes to \(others) alone", remedy: apple)
                }
                return .notice(
                    "there is none, so the node pushes to no device",
                    remedy: apple + "; for Android fcm-key-path; for browsers web-push-keys-path and web-push-subject")
            }
            return .notice(
                "key \(credential.keyID) of team \(credential.teamID) for \(credential.topic) is a P-256 key; APNs was not asked",
                remedy: "clarion doctor --apns asks APNs whether it accepts the key")
        }
    }

    /// Asks APNs whether it accepts the key: one silent push to a device token that no device has.
    static func credentialTrial(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("signing key") {
            guard let credential = settings.apns.credential else {
                return .notice(
                    "there is none, so nothing can be tried at APNs",
                    remedy: "set apns-topic, apns-team-id, apns-key-id and apns-key-path")
            }
            do {
                let outcome = try await answer(to: credential, settings)
                return finding(about: outcome, credential, settings.apns.environment)
            } catch {
                return .bad(
                    (error as? ServiceError)?.detail ?? "the client of APNs cannot be made",
                    remedy: "correct apns-key-path and the settings beside it")
            }
        }
    }

    private static func answer(to credential: Settings.Credential, _ settings: Settings) async throws -> APNsOutcome? {
        var settings = settings
        settings.pushDeadline = .seconds(30)
        let maker = APNsClientMaker(
            forCommand: settings, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
        let client = try maker.clients(credential, settings.apns.environment).pushes
        var random = SystemRandomNumberGenerator()
        let token = (0..<8).map { _ in String(random.next(upperBound: UInt32.max), radix: 16).leftPadded(to: 8) }.joined()
        let push = APNsPush(
            deviceToken: token,
            headers: APNsPush.Headers(topic: credential.topic, pushType: .background, priority: 5, expiration: 0),
            payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
        let outcome = await client.send([push], lane: .express).first
        await client.shutdown(within: .seconds(1))
        return outcome
    }

    private static func finding(
        about outcome: APNsOutcome?, _ credential: Settings.Credential, _ environment: APNsEnvironment
    ) -> DoctorCheck.Finding {
        let name = "key \(credential.keyID) of team \(credential.teamID)"
        switch outcome {
        case .accepted: return .good("APNs accepts \(name) for \(credential.topic)")
        case .rejected(let rejection): return finding(about: rejection, name, credential, environment)
        case .notSent(let failure), .unknown(let failure):
            return .bad(
                "APNs did not say whether it accepts \(name): \(OutcomeReason.words(of: failure.rawValue))",
                remedy: "correct what the check of the way to APNs says, then try again")
        case nil: return .bad("APNs was not asked", remedy: "try again")
        }
    }

    private static func finding(
        about rejection: APNsRejection, _ name: String, _ credential: Settings.Credential, _ environment: APNsEnvironment
    ) -> DoctorCheck.Finding {
        switch rejection.reason {
        case .badDeviceToken, .unregistered, .expiredToken, .deviceTokenNotForTopic:
            return .good("APNs (\(environment.rawValue)) accepts \(name) for \(credential.topic)")
        case .topicDisallowed, .badTopic, .missingTopic:
            return .bad(
                "APNs accepts \(name) and refuses the topic \(credential.topic) (\(rejection.reason))",
                remedy: "set apns-topic to the bundle id of an app of team \(credential.teamID)")
        case .badEnvironmentKeyInToken, .badEnvironmentKeyIDInToken:
            return .bad(
                "\(name) is not for the environment \(environment.rawValue) (\(rejection.reason))",
                remedy: "set apns-environment, or use a key of this environment")
        case .expiredProviderToken:
            return .bad(
                "APNs calls a token expired that was just made (\(rejection.reason))", remedy: "set the clock of this machine")
        case .invalidProviderToken, .missingProviderToken:
            return .bad(
                "APNs refuses \(name) (\(rejection.reason))",
                remedy: "the .p8 file has to be that of apns-key-id, and the key one of apns-team-id that was not revoked")
        default:
            return .notice(
                "APNs answers \(rejection.status) \(rejection.reason), which says nothing of \(name)", remedy: "try again later")
        }
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - self.count)) + self
    }
}
