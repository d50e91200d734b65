import APNsHTTP2
import NIOCore
import NIOPosix
import RichPushModel
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

    static func apnsCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("way to APNs") {
            let (host, port) = (settings.apns.host ?? settings.apns.environment.host, settings.apns.port)
            var trust = APNsClientConfiguration.Trust.system
            if let path = settings.apns.trustRootsPath {
                guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
                    return .bad("\(path) cannot be read", mend: "set apns-trust-roots-path")
                }
                trust = .additional(pem: pem)
            }
            let check = APNsHandshakeCheck(of: .init(host: host, port: port), trust: trust, proxy: settings.apns.proxy)
            let finding = await check.look(within: .seconds(5), now: SystemClock().now)
            return words(about: finding, host: host, port: port, settings)
        }
    }

    /// Names the step that fails: name, route, port or TLS. `host` and `port` are those of APNs; a proxy is named by the settings.
    private static func words(
        about finding: APNsHandshakeCheck.Finding, host: String, port: Int, _ settings: Settings
    ) -> DoctorCheck.Finding {
        let (next, nextPort) = settings.apns.proxy.map { ($0.host, $0.port) } ?? (host, port)
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
                mend: settings.apns.host == nil && settings.apns.proxy == nil
                    ? "let the machine connect out on port \(port), or set apns-port: 2197"
                    : "start what should listen there, or correct the port")
        case .unreachable:
            return .bad(
                "port: \(next):\(nextPort) does not answer within 5 s",
                mend: "let the machine connect out on port \(nextPort), or set apns-port: 2197")
        case .refused(let reason):
            return .bad(
                "TLS: \(host):\(port) answers, but TLS fails: \(reason)",
                mend: settings.apns.host == nil
                    ? "a proxy may be breaking TLS open; let the machine connect to Apple directly"
                    : "set apns-trust-roots-path to the authority of \(host), and apns-host to a name in its certificate")
        }
    }
}
