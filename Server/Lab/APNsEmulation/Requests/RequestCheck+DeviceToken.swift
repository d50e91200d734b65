import APNsProtocol

/// The device token (Reference/APNs.md#7-2-18 and #7-2-19).
extension RequestCheck {
    static let tokenForm = RequestCheck(.tokenForm) { evidence in
        guard let token = evidence.path.token else { return nil }
        return APNsText.isDeviceToken(token) ? nil : APNsRefusal(400, .badDeviceToken)
    }

    /// A token of the other environment is unknown in this one.
    static let tokenKnown = RequestCheck(.tokenKnown) { evidence in
        evidence.target == nil ? APNsRefusal(400, .badDeviceToken) : nil
    }

    static let tokenTopic = RequestCheck(.tokenTopic) { evidence in
        guard let target = evidence.target else { return nil }
        return target.topic == evidence.topic ? nil : APNsRefusal(400, .deviceTokenNotForTopic)
    }

    static let tokenAlive = RequestCheck(.tokenAlive) { evidence in
        switch evidence.target?.life {
        case .unregistered(let since): APNsRefusal(410, .unregistered, timestamp: since.milliseconds)
        case .expired(let since): APNsRefusal(410, .expiredToken, timestamp: since.milliseconds)
        case .alive, nil: nil
        }
    }

    static let deviceRate = RequestCheck(.deviceRate) { evidence in
        guard let rate = evidence.rules.deviceRate, let target = evidence.target else { return nil }
        return target.recentPushes >= rate.count ? APNsRefusal(429, .tooManyRequests) : nil
    }
}
