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
            switch await check.look(within: .seconds(5), now: SystemClock().now) {
            case .sound: return .good("\(host):\(port) answers, over TLS and HTTP/2")
            case .unreachable:
                return .bad(
                    "\(host):\(port) does not answer within 5 s",
                    mend: "let the machine connect out on port \(port), or set apns-port: 2197")
            case .refused(let reason):
                return .bad(
                    "\(host):\(port) answers, but TLS fails: \(reason)",
                    mend: settings.apns.host == nil
                        ? "a proxy may be breaking TLS open; let the machine connect to Apple directly"
                        : "set apns-trust-roots-path to the authority of \(host), and apns-host to a name in its certificate")
            }
        }
    }
}
