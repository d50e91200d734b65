import NIOPosix

extension Doctor {
    static func portCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("listening port") {
            let address = settings.listening.address
            do {
                let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .bind(host: address.host, port: address.port).get()
                try await channel.close()
                return .good("\(address.host):\(address.port) is free")
            } catch {
                return .notice(
                    "\(address.host):\(address.port) cannot be listened on: \(error)",
                    mend: "if that is no running Clarion, stop what listens there or set listen-port")
            }
        }
    }

    static func apnsCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("way to APNs") {
            let host = settings.apns.host ?? settings.apns.environment.host
            do {
                let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .connectTimeout(.seconds(5)).connect(host: host, port: settings.apns.port).get()
                try await channel.close()
                return .good("\(host):\(settings.apns.port) answers")
            } catch {
                return .bad(
                    "\(host):\(settings.apns.port) does not answer within 5 s",
                    mend: "let the machine connect out on port 443, or set apns-port: 2197")
            }
        }
    }
}
