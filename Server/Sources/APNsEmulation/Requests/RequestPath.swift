/// Where a request goes.
enum RequestPath: Sendable, Hashable {
    /// `/3/device/` and something behind it that may or may not be a device token.
    case device(token: String)
    /// `/3/device/` and nothing behind it.
    case deviceWithoutToken
    /// Anything else. Broadcasts and channels belong here until the emulator serves them.
    case unknown

    init(_ text: String) {
        let prefix = "/3/device/"
        guard text.hasPrefix(prefix) else {
            self = .unknown
            return
        }
        let rest = text.dropFirst(prefix.count)
        if rest.isEmpty {
            self = .deviceWithoutToken
        } else if rest.contains("/") {
            self = .unknown
        } else {
            self = .device(token: String(rest))
        }
    }

    /// The token as sent.
    var token: String? {
        guard case .device(let token) = self else { return nil }
        return token
    }
}
