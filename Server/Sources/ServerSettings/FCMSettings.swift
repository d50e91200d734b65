import FCMProtocol
import RichPushModel
import SharedAccess

/// How pushes reach Android devices.
public struct FCMSettings: SettingGroup {
    package let key = Setting(
        "fcm-key", .optional(.secret), default: nil, secret: true,
        """
        The private key of a service account of your Firebase project: the text of the file that its console gives. Without one, nothing is \
        sent to Android devices, unless their hub has an account of its own.
        """)
    package let keyPath = Setting(
        "fcm-key-path", .optional(.path), default: nil,
        "Where that file lies, in place of fcm-key; only the server needs to be able to read it.")
    package let messagesPerMinute = Setting(
        "fcm-messages-per-minute", .integer(60...10_000_000), default: 600_000,
        """
        How many messages this node sends to a project of Firebase in a minute. Google takes 600,000 from a project, which all nodes \
        share.
        """)
    package let host = Setting(
        "fcm-host", .optional(.host), default: nil,
        """
        Another host in place of Google's, such as a local FCM. An access token comes from the place that the key names, which is Google's or \
        this host; for the account of a hub, which names none, from /token at this host.
        """)
    package let port = Setting("fcm-port", .remotePort, default: 443, "The port at that host.")
    package let trustRootsPath = Setting(
        "fcm-trust-roots-path", .optional(.path), default: nil,
        "The certificates (PEM) that vouch for FCM and for the place that gives access tokens, besides the system's.")
}

extension Settings {
    public typealias FCM = GroupedSettings<FCMSettings>
}

extension Settings.FCM {
    /// The service account; absent without a key. `key` holds the text of the file that `keyPath` names.
    package var account: FCMServiceAccount? { self.key.flatMap { try? FCMServiceAccount(keyFile: Array($0.reveal().utf8)) } }

    /// The host of FCM.
    package var hostOrGoogle: String { self.host ?? "fcm.googleapis.com" }

    /// Scheme, host and port of FCM.
    package var endpoint: String {
        let host = hostOrGoogle
        return "https://\(host.contains(":") ? "[\(host)]" : host):\(self.port)"
    }
}

extension Settings.FCM {
    /// Where the account of a hub gets its access tokens: a key that is for Google is shown to no other host, and the other way round.
    package var hubTokenURL: String { self.host == nil ? FCMServiceAccount.googleTokenURL : endpoint + "/token" }

    /// Why an account cannot be one whose key names this place for access tokens; `nil` when it can. What the account signs is shown to Google,
    /// or to the host that the operator has named, and never to a host that only a key file names.
    package func refusal(ofTokenURL url: String) -> String? {
        guard let place = OutboundAddress(url) else { return "token_uri is not an address with https" }
        let isGoogle = place.port == 443 && Self.tokenHosts.contains { place.host == $0 || place.host.hasSuffix(".\($0)") }
        let named = self.host == nil ? nil : OutboundAddress(endpoint)
        let isNamed = place.host == named?.host && place.port == named?.port
        guard place.isSecure, isGoogle || isNamed else {
            return "token_uri names \(place.host):\(place.port), and this server asks \(hubTokenURL) for access tokens; "
                + "a service other than Google's is named with the settings fcm-host and fcm-port"
        }
        return nil
    }

    /// Google's, of which older keys name others.
    private static let tokenHosts = ["googleapis.com", "accounts.google.com"]
}

extension SettingsResolver {
    /// Takes the key from its file. A problem for what is no key of a service account, and for one that names a foreign place for access tokens.
    mutating func checkFCM() {
        checkTrustRoots(\.fcm.trustRootsPath)
        if let key = settings.fcm.key {
            if settings.fcm.keyPath != nil { complain(\.fcm.keyPath, "fcm-key is given as well; set only one of them") }
            if let fault = fault(in: key.reveal()) { complain(\.fcm.key, fault) }
        } else if let text = readText(of: \.fcm.keyPath) {
            if let fault = fault(in: text) { complain(\.fcm.keyPath, fault) }
            settings.fcm.key = SecretText(text)
        }
    }

    private func fault(in text: String) -> String? {
        do throws(FCMServiceAccountFault) {
            let account = try FCMServiceAccount(keyFile: Array(text.utf8))
            return settings.fcm.refusal(ofTokenURL: account.tokenURL)
        } catch { return "\(error)" }
    }
}
