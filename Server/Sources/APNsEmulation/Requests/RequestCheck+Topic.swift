import APNsProtocol

/// Check 15: the topic.
extension RequestCheck {
    static let topicPresent = RequestCheck(.topicPresent) { evidence in
        evidence.request.head.topic?.isEmpty == false ? nil : APNsRefusal(400, .missingTopic)
    }

    static let topicForm = RequestCheck(.topicForm) { evidence in
        guard let topic = evidence.request.head.topic else { return nil }
        return APNsText.isTopic(topic) ? nil : APNsRefusal(400, .badTopic)
    }

    /// The app belongs to the team, to the topics of the key, and to what the team had when the connection was bound.
    static let topicAllowed = RequestCheck(.topicAllowed) { evidence in
        guard let topic = evidence.request.head.topic, let key = evidence.signed?.key else { return nil }
        let refusal = APNsRefusal(400, .topicDisallowed)
        guard let app = evidence.app, app.teamID == key.teamID else { return refusal }
        if let topics = key.topics, !topics.contains(TopicName(topic).bundleID) { return refusal }
        if evidence.rules.bindsAppsToConnection, let binding = evidence.binding, app.sequence > binding.appSequence {
            return refusal
        }
        return nil
    }

    static let topicSuffix = RequestCheck(.topicSuffix) { evidence in
        guard let topic = evidence.request.head.topic, let pushType = evidence.pushType else { return nil }
        return TopicName(topic).fits(pushType) ? nil : APNsRefusal(400, .topicDisallowed)
    }
}
