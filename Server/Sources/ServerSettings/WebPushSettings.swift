import AppBackend
import WebPushProtocol

/// How pushes reach browsers.
public struct WebPushSettings: SettingGroup {
    package let subject = Setting(
        "web-push-subject", .optional(.vapidSubject), default: nil,
        """
        Where the operator of a push service reaches you: mailto: with an address, or an https address. Push services refuse a server \
        that does not say it. It belongs to the keys.
        """)
    package let keys = Setting(
        "web-push-keys", .optional(.secret), default: nil, secret: true,
        """
        The VAPID keys, as `clarion web-push-key` prints them, with blanks or line breaks between them. Browsers subscribe with the first; \
        those that subscribed with another one are still sent to. Without any, nothing is sent to browsers.
        """)
    package let keysPath = Setting(
        "web-push-keys-path", .optional(.path), default: nil,
        "Where a file with the VAPID keys lies, in place of web-push-keys; only the server needs to be able to read it.")
    package let hosts = Setting(
        "web-push-hosts", .list(.host), default: Self.knownHosts,
        """
        The push services to which this server sends: a host, which stands for all hosts below it as well. A browser names its push \
        service, so each host in this list is one that others can make this server call.
        """)
    package let networks = Setting(
        "web-push-networks", .list(.addressRange), default: [],
        """
        The networks, besides the public Internet, in which push services may be; only in these also by plain http. It is for a push \
        service of your own.
        """)
    package let trustRootsPath = Setting(
        "web-push-trust-roots-path", .optional(.path), default: nil,
        "The certificates (PEM) that vouch for push services besides the system's.")
    package let origins = Setting(
        "web-origins", .list(.webOrigin), default: [],
        """
        The sites, besides this server, whose pages may call the app backend: scheme and host, and the port if it is not the usual one. \
        Name only sites that you trust: their scripts may do what the people who sign in there may do.
        """)

    /// Those of the vendors.
    package static let knownHosts = WebPushRule.knownHosts

    /// A host that can be asked whether it is there.
    package struct EndpointHost: Hashable, Sendable {
        package var name: String
        /// Whether it is one of the four, whose endpoints have the usual port.
        package var isOfVendor: Bool
    }

    /// The hosts that have the endpoints, where `knownHosts` names what is above them. Those of Edge are many, and none stands for all.
    fileprivate static let endpointHosts = [
        "push.services.mozilla.com": "updates.push.services.mozilla.com", "push.apple.com": "web.push.apple.com",
        "notify.windows.com": nil,
    ]
}

extension Settings {
    public typealias WebPush = GroupedSettings<WebPushSettings>
}

extension Settings.WebPush {
    /// To which browsers this server sends.
    package var rule: WebPushRule { WebPushRule(hosts: self.hosts, networks: self.networks) }

    /// The keys and the subject; absent without them. `keys` holds the text of the file that `keysPath` names.
    package var identity: VAPIDIdentity? {
        guard let subject = self.subject, let text = self.keys?.reveal(), let keys = Self.keys(in: text) else { return nil }
        return VAPIDIdentity(subject: subject, keys: keys)
    }

    /// The hosts of the setting, or those below them that can be asked in their place.
    package var endpointHosts: [WebPushSettings.EndpointHost] {
        rule.hosts.compactMap { host in
            let name = WebPushSettings.endpointHosts[host, default: host]
            return name.map { WebPushSettings.EndpointHost(name: $0, isOfVendor: WebPushSettings.knownHosts.contains(host)) }
        }
    }

    /// What pages and registrations of browsers have to keep to. Browsers subscribe with the first key.
    var terms: WebPushTerms { WebPushTerms(publicKey: identity?.keys.first?.publicText, rule: rule) }

    /// A new private key, as `clarion web-push-key` prints it.
    package static func newKey() -> String { VAPIDKey().privateText }

    /// Whether a text is a private key.
    package static func isKey(_ text: String) -> Bool { VAPIDKey(privateText: text) != nil }

    /// `nil` when a word is no key, and without any.
    fileprivate static func keys(in text: String) -> [VAPIDKey]? {
        let words = text.split(whereSeparator: \.isWhitespace)
        let keys = words.compactMap { VAPIDKey(privateText: $0) }
        return keys.isEmpty || keys.count < words.count ? nil : keys
    }
}

extension SettingKind where Value == String {
    /// What a push service takes as the sender.
    static var vapidSubject: SettingKind {
        .scalar(
            "mailto: with an address such as mailto:push@example.com, or an address such as https://example.com",
            parse: { VAPIDIdentity.isSubject($0) ? $0 : nil }, format: { $0 })
    }
}

extension SettingsResolver {
    /// Takes the keys from their file. A problem for keys without a subject or the other way round, and for what is no key.
    mutating func checkWebPush() {
        checkTrustRoots(\.webPush.trustRootsPath)
        let webPush = settings.webPush
        let hasKeys = webPush.keys != nil || webPush.keysPath != nil
        let sentence = "is needed too: web-push-subject and the keys belong together"
        if hasKeys, webPush.subject == nil { complain(\.webPush.subject, sentence) }
        if !hasKeys, webPush.subject != nil { complain(\.webPush.keysPath, sentence) }
        let wrong = "the keys are not as clarion web-push-key prints them: 43 letters of Base64 each"
        if let keys = webPush.keys {
            if webPush.keysPath != nil { complain(\.webPush.keysPath, "web-push-keys is given as well; set only one of them") }
            if Settings.WebPush.keys(in: keys.reveal()) == nil { complain(\.webPush.keys, wrong) }
        } else if let text = readText(of: \.webPush.keysPath) {
            if Settings.WebPush.keys(in: text) == nil { complain(\.webPush.keysPath, wrong) }
            settings.webPush.keys = SecretText(text)
        }
    }
}
