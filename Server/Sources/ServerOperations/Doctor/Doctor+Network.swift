import APNsHTTP2
import NIOCore
import NIOPosix
import RichPushModel
import ServerSettings
import ServiceErrors

extension Doctor {
    static func portCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("listening port") {
            let address = settings.listening.address
            do {
                try await ListenerFault.explained(address, setting: "listen-port") {
                    // As the server does: connections that have ended but are not forgotten yet do not keep it from the port.
                    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                        .bind(host: address.host, port: address.port).get()
                    try await channel.close()
                }
                return .good("\(address.host):\(address.port) is free")
            } catch {
                let reason = (error as? ServiceError)?.detail ?? "\(address.host) is no address that can be listened on"
                return .notice(reason, mend: "if that is a running Clarion, all is well")
            }
        }
    }

    /// One check for each environment that has a host of its own.
    static func apnsChecks(_ settings: Settings) -> [DoctorCheck] {
        let environments = settings.apns.environmentsInUse
        return environments.map { environment in
            let name = environments.count == 1 ? "way to APNs" : "way to APNs for \(environment.rawValue)"
            return DoctorCheck(name) {
                let place = settings.apns.place(for: environment)
                guard let trust = try? place.trust() else {
                    return .bad("\(place.trustRootsPath ?? "") cannot be read", mend: "set \(place.trustRootsSetting)")
                }
                let check = APNsHandshakeCheck(of: place.endpoint, trust: trust, proxy: settings.apns.proxy)
                let finding = await check.look(within: .seconds(5), now: SystemClock().now)
                return words(about: finding, place, settings.apns.proxy)
            }
        }
    }

    /// Names the step that fails: name, route, port or TLS.
    private static func words(
        about finding: APNsHandshakeCheck.Finding, _ place: APNsPlace, _ proxy: APNsProxy?
    ) -> DoctorCheck.Finding {
        let (host, port) = (place.host, place.port)
        let (next, nextPort) = proxy.map { ($0.host, $0.port) } ?? (host, port)
        switch finding {
        case .sound: return .good("\(host):\(port) answers, over TLS and HTTP/2")
        case .unresolved:
            return .bad(
                "name: \(next) has no address, or no name service answers",
                mend: "check the spelling of the name, and the name service of this machine: getent hosts \(next)")
        case .noRoute(let reason):
            return .bad(
                "route: this machine has no way to \(next) (\(reason))", mend: "check the network and its firewall: ip route")
        case .portClosed:
            return .bad(
                "port: \(next) answers, and nothing listens on port \(nextPort)",
                mend: place.isStandard && proxy == nil
                    ? "let the machine connect out on port \(port), or set apns-port: 2197"
                    : "start what should listen there, or correct the port")
        case .unreachable:
            return .bad(
                "port: \(next):\(nextPort) does not answer within 5 s",
                mend: "let the machine connect out on port \(nextPort), or set apns-port: 2197")
        case .refused(let reason):
            return .bad(
                "TLS: \(host):\(port) answers, but TLS fails: \(reason)",
                mend: place.isStandard
                    ? "a proxy may be breaking TLS open; let the machine connect to Apple directly"
                    : "set \(place.trustRootsSetting) to the authority of \(host), and \(place.hostSetting) to a name in its certificate"
            )
        }
    }
}
