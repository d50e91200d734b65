import RichPushModel

extension PagePlan {
    /// The batch for the targets in `sends`, in their order; one header set per topic.
    func batch(_ message: AcceptedMessage, of slice: SliceID) -> PushBatch {
        var headers: [PushBatch.Headers] = []
        var indexOfTopic: [String?: Int] = [:]
        var batch = PushBatch(hub: slice.hub, bodies: [message.body], headers: [], targets: [])
        for index in sends {
            guard let record = targets[index].record, let handle = record.handle else { continue }
            let topic = message.topic ?? record.topic
            if indexOfTopic[topic] == nil {
                indexOfTopic[topic] = headers.count
                headers.append(Self.headers(message, topic: topic))
            }
            batch.targets.append(
                PushBatch.Target(
                    handle: handle, environment: record.environment, headers: indexOfTopic[topic] ?? 0,
                    pushID: PushID(notification: slice.notification, record: record.id)))
        }
        batch.headers = headers
        return batch
    }

    private static func headers(_ message: AcceptedMessage, topic: String?) -> PushBatch.Headers {
        PushBatch.Headers(
            pushType: message.pushType, priority: message.priority, expiration: message.expiresAt?.seconds,
            collapseID: message.collapseID, topic: topic)
    }
}
