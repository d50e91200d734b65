/// Where a request goes.
enum RequestPath: Sendable, Hashable {
    /// `/3/device/` and something behind it that may or may not be a device token.
    case device(token: String)
    /// `/3/device/` and nothing behind it.
    case deviceWithoutToken
    /// `/4/broadcasts/apps/` and something behind it that may or may not be a bundle id.
    case broadcast(bundleID: String)
    /// `/1/apps/…/channels`, on the port of the management.
    case channels(bundleID: String)
    /// `/1/apps/…/all-channels`, on the port of the management.
    case allChannels(bundleID: String)
    case unknown

    init(_ text: String, service: APNsService = .provider) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard text.hasPrefix("/") else {
            self = .unknown
            return
        }
        switch service {
        case .provider: self = Self.provider(parts)
        case .channelManagement: self = Self.management(parts)
        }
    }

    private static func provider(_ parts: [String]) -> RequestPath {
        if parts.count == 3, parts[0] == "3", parts[1] == "device" {
            return parts[2].isEmpty ? .deviceWithoutToken : .device(token: parts[2])
        }
        if parts.count == 4, Array(parts.prefix(3)) == ["4", "broadcasts", "apps"], !parts[3].isEmpty {
            return .broadcast(bundleID: parts[3])
        }
        return .unknown
    }

    private static func management(_ parts: [String]) -> RequestPath {
        guard parts.count == 4, parts[0] == "1", parts[1] == "apps", !parts[2].isEmpty else { return .unknown }
        switch parts[3] {
        case "channels": return .channels(bundleID: parts[2])
        case "all-channels": return .allChannels(bundleID: parts[2])
        default: return .unknown
        }
    }

    /// The token as sent.
    var token: String? {
        guard case .device(let token) = self else { return nil }
        return token
    }

    /// The bundle id of a broadcast or of the management.
    var bundleID: String? {
        switch self {
        case .broadcast(let bundleID), .channels(let bundleID), .allChannels(let bundleID): bundleID
        case .device, .deviceWithoutToken, .unknown: nil
        }
    }
}
