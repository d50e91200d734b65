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
    /// The first of the targets that are alike, up to the last one, and what all of them have. Fields of their own, since a whole that
    /// is taken out is copied with its references, once for each target.
    private var latest: AudienceMember?
    private var latestEnvironment: String?
    private var latestBody = 0
    private var latestHeaders = 0
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
        if latest?.isAlike(member) != true { describe(member) }
        batch.targets.append(
            PushBatch.Target(
                handle: member.handle, environment: latestEnvironment, body: latestBody, headers: latestHeaders,
                pushID: ids[batch.targets.count]))
    }

    private mutating func describe(_ member: AudienceMember) {
        let template = isTemplate ? member.template : nil
        let push = template.flatMap { pushes[$0] }
        let key = HeaderKey(template: template, topic: push?.topic ?? message.topic ?? member.topic)
        latest = member
        latestEnvironment = member.environment
        latestBody = body(template, push)
        latestHeaders = header(key, push)
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
