import RichPushModel

extension PagePlan {
    /// The batch for the targets in `sends`, in their order: one body for each template, and one header set for each template
    /// and topic.
    func batch(_ message: AcceptedMessage, of slice: SliceID) -> PushBatch {
        var composition = BatchComposition(message, pushes: pushes, slice: slice, capacity: sends.count)
        for index in sends {
            guard let member = targets[index].member else { continue }
            composition.add(member)
        }
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
    private let slice: SliceID
    private(set) var batch: PushBatch
    private var bodies: [TemplateID?: Int] = [:]
    private var headers: [HeaderKey: Int] = [:]
    /// Where body and headers of the target before are, which mostly are those of the next.
    private var latest: (template: TemplateID?, topic: String?, body: Int, headers: Int)?
    private let names: PushID.Naming
    private let isTemplate: Bool

    init(_ message: AcceptedMessage, pushes: [TemplateID: RenderedPush], slice: SliceID, capacity: Int) {
        self.message = message
        self.pushes = pushes
        self.slice = slice
        names = PushID.Naming(slice.notification)
        isTemplate = message.format == .template
        batch = PushBatch(hub: slice.hub, bodies: [], headers: [], targets: [])
        batch.targets.reserveCapacity(capacity)
    }

    mutating func add(_ member: AudienceMember) {
        let template = isTemplate ? member.template : nil
        if latest == nil || latest?.template != template || latest?.topic != member.topic { find(template, member) }
        batch.targets.append(
            PushBatch.Target(
                handle: member.handle, environment: member.environment, body: latest?.body ?? 0, headers: latest?.headers ?? 0,
                pushID: names.id(of: member)))
    }

    private mutating func find(_ template: TemplateID?, _ member: AudienceMember) {
        let push = template.flatMap { pushes[$0] }
        let key = HeaderKey(template: template, topic: push?.topic ?? message.topic ?? member.topic)
        latest = (template, member.topic, body(template, push), header(key, push))
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
