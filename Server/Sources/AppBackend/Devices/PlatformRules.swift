import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import WebPushProtocol
import WireText

/// What a browser may register.
struct BrowserRule {
    /// The most characters of the page's address: it travels in each push.
    private static let longestPage = 256

    let terms: WebPushTerms

    /// Throws `invalid-field`.
    func check(_ update: InstallationUpdate) throws(ServiceError) {
        guard update.environment == nil else { throw ServiceError(.invalidField, "environment: a browser has none") }
        guard update.sealingKey == nil else { throw ServiceError(.invalidField, "sealingKey: a browser opens nothing sealed") }
        if let page = update.topic { try check(page: page) }
        guard let text = update.handle else { return }
        do throws(WebPushSubscriptionFault) {
            // A page does not say with which key it has subscribed.
            guard try terms.rule.subscription(in: text).serverKey == nil else { throw .form }
        } catch { throw ServiceError(.invalidField, "handle: \(error)") }
    }

    /// A tap opens it with the number of the notification behind `#`.
    private func check(page: String) throws(ServiceError) {
        let isPage = OutboundAddress(page).map { $0.isSecure || AddressRange.isLoopback(host: $0.host) } ?? false
        guard isPage, page.utf8.count <= Self.longestPage, !page.contains("#") else {
            throw ServiceError(
                .invalidField,
                "topic: of a browser it is the address of a page with https, without #, of at most \(Self.longestPage) characters"
            )
        }
    }
}

extension RichPushBackend {
    /// The platform of an installation whose words keep to the rules of it. Throws `invalid-field`, and `not-found` for one that the server does
    /// not push to.
    func devicePlatform(of update: InstallationUpdate) async throws -> Platform {
        switch Platform(rawValue: update.platform) {
        case .browser:
            try BrowserRule(terms: try await webPushTerms()).check(update)
            return .browser
        case .fcmv1:
            guard parts.hub.decidesForDevices else {
                throw ServiceError(.notFound, "this server does not push to Android: its hub is elsewhere")
            }
            guard update.environment == nil else { throw ServiceError(.invalidField, "environment: an Android device has none") }
            guard update.topic == nil else { throw ServiceError(.invalidField, "topic: an Android device has none") }
            return .fcmv1
        default: return try Self.platform(update.platform)
        }
    }

    /// What a page needs before its browser subscribes. Throws `not-found` where the server does not push to browsers.
    public func webPushTerms() async throws -> WebPushTerms {
        var terms = parts.settings.webPush
        if let hubs = parts.hubs, let id = hubs.own {
            let own = try await hubs.catalog.credential(of: id, for: .browser)?.value
            // Owners write it in other spellings too, and a page compares it with that of its subscription.
            if case .browser(let credential)? = own { terms.publicKey = Base64URL.plain(credential.publicKey) }
        }
        guard terms.publicKey != nil, parts.hub.decidesForDevices else {
            throw ServiceError(.notFound, "this server does not push to browsers: it has no VAPID keys, or its hub is elsewhere")
        }
        return terms
    }
}

extension Platform {
    /// The one text of a device token, so that a retry is recognised; `nil` for a text that is not a token.
    func deviceToken(_ text: String) -> DeviceToken? {
        switch self {
        case .browser: WebPushSubscription(token: text).map { DeviceToken(canonical: $0.token) }
        // It is opaque, and has been printable without blanks since there are any.
        case .fcmv1: text.utf8.allSatisfy { (33...126).contains($0) } ? DeviceToken(text, platform: self) : nil
        default: DeviceToken(text, platform: self)
        }
    }

    /// What a device token is.
    var handleRule: String {
        switch self {
        case .browser: "of a browser it is endpoint, p256dh and auth"
        case .fcmv1: "a registration token of FCM has 1 to 4096 printable characters of ASCII without blanks"
        default: "a device token is 1 to 200 bytes in hexadecimal"
        }
    }
}

extension BoundDevice {
    /// What lists show of the device token. All subscriptions begin alike, and what distinguishes them is secret.
    var shortHandle: String? {
        guard platform == .browser else { return handle.map { String($0.text.prefix(6)) } }
        return handle.flatMap { WebPushSubscription(token: $0.text)?.endpoint.host }
    }
}
