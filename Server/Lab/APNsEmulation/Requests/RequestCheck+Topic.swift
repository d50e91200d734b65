import APNsProtocol

/// The topic (Reference/APNs.md#7-2-15).
extension RequestCheck {
    static let topicPresent = RequestCheck(.topicPresent) { evidence in
        evidence.topic?.isEmpty == false ? nil : APNsRefusal(400, .missingTopic)
    }

    static let topicForm = RequestCheck(.topicForm) { evidence in
        guard let topic = evidence.topic else { return nil }
        return APNsText.isTopic(topic) ? nil : APNsRefusal(400, .badTopic)
    }

    /// With a certificate the topic is one that it lists; the push type `location` needs a provider token all the same
    /// (Reference/APNs.md#2-4). With a token the app belongs to the team, to the topics of the key, and to what the team had when
    /// the connection was bound.
    static let topicAllowed = RequestCheck(.topicAllowed) { evidence in
        guard let topic = evidence.topic else { return nil }
        if let certificate = evidence.certificate { return certificateRefusal(of: topic, by: certificate, evidence) }
        guard let key = evidence.signed?.key else { return nil }
        let refusal = APNsRefusal(400, .topicDisallowed)
        guard let app = evidence.app, app.teamID == key.teamID else { return refusal }
        if let topics = key.topics, !topics.contains(TopicName(topic).bundleID) { return refusal }
        if evidence.rules.bindsAppsToConnection, let binding = evidence.binding, app.sequence > binding.appSequence {
            return refusal
        }
        return nil
    }

    private static func certificateRefusal(
        of topic: String, by certificate: ClientCertificate, _ evidence: RequestEvidence
    ) -> APNsRefusal? {
        if evidence.pushType == .location { return APNsRefusal(400, .topicDisallowed) }
        return certificate.topics.contains(topic) ? nil : APNsRefusal(400, evidence.rules.certificateTopicReason)
    }

    static let topicSuffix = RequestCheck(.topicSuffix) { evidence in
        guard let topic = evidence.topic, let pushType = evidence.pushType else { return nil }
        return TopicName(topic).fits(pushType) ? nil : APNsRefusal(400, .topicDisallowed)
    }
}
