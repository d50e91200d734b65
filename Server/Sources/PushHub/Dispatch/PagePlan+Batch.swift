import RichPushModel

extension PagePlan {
    /// The batch for the targets in `sends`, in their order: one body for each template, and one header set for each template
    /// and topic.
    func batch(_ message: AcceptedMessage, of slice: SliceID) -> PushBatch {
        let ids = PushID.Naming(slice.notification).ids(count: sends.count) { name in targets.forEachMember(sends, name) }
        var composition = BatchComposition(message, pushes: pushes)
        targets.forEachMember(sends) { composition.add($0) }
        return PushBatch(
            hub: slice.hub, bodies: composition.bodies, headers: composition.headers,
            targets: PushTargets(targets.handles(sends), runs: composition.runs, pushIDs: ids))
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
    private(set) var bodies: [[UInt8]] = []
    private(set) var headers: [PushBatch.Headers] = []
    private(set) var runs: [PushTargets.Run] = []
    private var knownBodies: [TemplateID?: Int] = [:]
    private var knownHeaders: [HeaderKey: Int] = [:]
    /// The first target of the last run.
    private var latest: AudienceMember?
    private let isTemplate: Bool

    init(_ message: AcceptedMessage, pushes: [TemplateID: RenderedPush]) {
        self.message = message
        self.pushes = pushes
        isTemplate = message.format == .template
    }

    mutating func add(_ member: AudienceMember) {
        let position = runs.last?.positions.upperBound ?? 0
        if latest?.isAlike(member) == true {
            let start = runs[runs.count - 1].positions.lowerBound
            runs[runs.count - 1].positions = start..<position + 1
        } else {
            runs.append(run(member, at: position))
            latest = member
        }
    }

    private mutating func run(_ member: AudienceMember, at position: Int) -> PushTargets.Run {
        let template = isTemplate ? member.template : nil
        let push = template.flatMap { pushes[$0] }
        let key = HeaderKey(template: template, topic: push?.topic ?? message.topic ?? member.topic)
        return PushTargets.Run(
            positions: position..<position + 1, environment: member.environment, body: body(template, push),
            headers: header(key, push))
    }

    private mutating func body(_ template: TemplateID?, _ push: RenderedPush?) -> Int {
        if let known = knownBodies[template] { return known }
        bodies.append(push?.body ?? message.body)
        knownBodies[template] = bodies.count - 1
        return bodies.count - 1
    }

    private mutating func header(_ key: HeaderKey, _ push: RenderedPush?) -> Int {
        if let known = knownHeaders[key] { return known }
        headers.append(
            PushBatch.Headers(
                pushType: push?.pushType ?? message.pushType, priority: push?.priority ?? message.priority,
                expiration: push.map(\.expiration) ?? message.expiresAt?.seconds,
                collapseID: push.map(\.collapseID) ?? message.collapseID, topic: key.topic))
        knownHeaders[key] = headers.count - 1
        return headers.count - 1
    }
}
