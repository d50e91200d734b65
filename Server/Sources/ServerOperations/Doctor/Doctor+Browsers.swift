import ServerDelivery
import ServerSettings
import ServiceErrors

/// What sends to browsers: the keys of the node, and the way to the push services.
extension Doctor {
    /// Asks hosts, and returns what keeps pushes from each; `nil` for one that answers.
    typealias AskingHosts = @Sendable (_ hosts: [String], Settings.WebPush) async throws(ServiceError) -> [String?]

    /// The keys of the node; `nil` when there are none. Keys that cannot be read, or without a subject, are a problem of the settings.
    static func browserKeysCheck(_ settings: Settings) -> DoctorCheck? {
        guard let identity = settings.webPush.identity, let first = identity.keys.first else { return nil }
        return DoctorCheck("VAPID keys") {
            let older = identity.keys.count - 1
            return .good(
                "browsers subscribe with \(first)\(older == 0 ? "" : ", \(older) older"); push services reach you at \(identity.subject)"
            )
        }
    }

    /// The way to the hosts that `web-push-hosts` names.
    static func browserWayCheck(_ settings: Settings, asking ask: @escaping AskingHosts = PushServiceTrial.faults) -> DoctorCheck
    {
        DoctorCheck("way to browsers") {
            await way(to: .browser, settings.webPush.identity != nil, settings, none: "keys for Web Push") {
                let hosts = settings.webPush.endpointHosts
                guard !hosts.isEmpty else {
                    return .notice(
                        "web-push-hosts names no host that can be asked", remedy: "name the push services of browsers there")
                }
                do throws(ServiceError) {
                    return finding(about: hosts, try await ask(hosts.map(\.name), settings.webPush))
                } catch {
                    return .bad(error.detail ?? "nothing can be asked", remedy: "correct the settings that begin with web-push-")
                }
            }
        }
    }

    /// Where one vendor's push service answers, pushes leave. The port of a push service of the operator's own is not known.
    private static func finding(about hosts: [WebPushSettings.EndpointHost], _ faults: [String?]) -> DoctorCheck.Finding {
        let pairs = zip(hosts, faults)
        let words = pairs.compactMap { host, fault in fault.map { "\(host.name): \($0)" } }
        guard !words.isEmpty else { return .good("\(hosts.map(\.name).joined(separator: ", ")): reached over TLS") }
        let isHopeless = words.count == hosts.count && hosts.contains(where: \.isOfVendor)
        var remedy = "let the machine connect out on port 443, without a proxy, or take the host out of web-push-hosts"
        if pairs.contains(where: { host, fault in fault != nil && !host.isOfVendor }) {
            remedy += "; a push service of your own may have another port, and its network belongs into web-push-networks"
        }
        let found = words.joined(separator: "; ")
        return isHopeless ? .bad(found, remedy: remedy) : .notice(found, remedy: remedy)
    }
}
