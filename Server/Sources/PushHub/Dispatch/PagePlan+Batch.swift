import RichPushModel

extension PagePlan {
    /// The batch for the targets in `sends`, in their order: one body for each template, and one header set for each template
    /// and topic.
    func batch(_ message: AcceptedMessage, of slice: SliceID) -> PushBatch {
        let ids = PushID.Naming(slice.notification).ids(count: sends.count) { name in targets.forEachMember(sends, name) }
        var composition = BatchComposition(message, pushes: pushes, hub: slice.hub, ids: ids)
        targets.forEachMember(sends) { composition.add($0) }
        return composition.batch
    }
}

/// A batch in the making.
private struct BatchComposition {
    private struct HeaderKey: Hashable {
        var template: TemplateID?
        var topic: String?
    }

    private let message: AcceptedMessage
    private let pushes: [TemplateID: RenderedPush]
    private(set) var batch: PushBatch
    private var bodies: [TemplateID?: Int] = [:]
    private var headers: [HeaderKey: Int] = [:]
    /// Where body and headers of the target before are, which mostly are those of the next.
    private var latest: (member: AudienceMember, body: Int, headers: Int)?
    private let isTemplate: Bool
    /// Of the pushes, in their order.
    private let ids: [PushID]

    init(_ message: AcceptedMessage, pushes: [TemplateID: RenderedPush], hub: HubID, ids: [PushID]) {
        self.message = message
        self.pushes = pushes
        isTemplate = message.format == .template
        batch = PushBatch(hub: hub, bodies: [], headers: [], targets: [])
        batch.targets.reserveCapacity(ids.count)
        self.ids = ids
    }

    mutating func add(_ member: AudienceMember) {
        let place = place(of: member)
        batch.targets.append(
            PushBatch.Target(
                handle: member.handle, environment: member.environment, body: place.body, headers: place.headers,
                pushID: ids[batch.targets.count]))
    }

    private mutating func place(of member: AudienceMember) -> (body: Int, headers: Int) {
        if let latest, latest.member.isAlike(member) { return (latest.body, latest.headers) }
        let template = isTemplate ? member.template : nil
        let push = template.flatMap { pushes[$0] }
        let key = HeaderKey(template: template, topic: push?.topic ?? message.topic ?? member.topic)
        let place = (body: body(template, push), headers: header(key, push))
        latest = (member, place.body, place.headers)
        return place
    }

    private mutating func body(_ template: TemplateID?, _ push: RenderedPush?) -> Int {
        if let known = bodies[template] { return known }
        batch.bodies.append(push?.body ?? message.body)
        bodies[template] = batch.bodies.count - 1
        return batch.bodies.count - 1
    }

    private mutating func header(_ key: HeaderKey, _ push: RenderedPush?) -> Int {
        if let known = headers[key] { return known }
        batch.headers.append(
            PushBatch.Headers(
                pushType: push?.pushType ?? message.pushType, priority: push?.priority ?? message.priority,
                expiration: push.map(\.expiration) ?? message.expiresAt?.seconds,
                collapseID: push.map(\.collapseID) ?? message.collapseID, topic: key.topic))
        headers[key] = batch.headers.count - 1
        return batch.headers.count - 1
    }
}
