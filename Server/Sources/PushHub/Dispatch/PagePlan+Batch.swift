import RichPushModel

extension PagePlan {
    /// The batch for the targets in `sends`, in their order: one body for each template, and one header set for each template
    /// and topic.
    func batch(_ message: AcceptedMessage, of slice: SliceID) -> PushBatch {
        var composition = BatchComposition(message, page, pushes)
        for index in sends { composition.add(index) }
        return PushBatch(
            hub: slice.hub, bodies: composition.bodies, headers: composition.headers,
            targets: PushTargets(
                page, sends, runs: composition.runs, pushIDs: PushID.Naming(slice.notification).ids(of: page, sends)))
    }
}

/// A batch in the making.
private struct BatchComposition {
    private struct HeaderKey: Hashable {
        var template: TemplateID?
        var topic: String?
    }

    private let message: AcceptedMessage
    private let page: TargetPage
    private let pushes: [TemplateID: RenderedPush]
    private(set) var bodies: [[UInt8]] = []
    private(set) var headers: [PushBatch.Headers] = []
    private(set) var runs: [PushTargets.Run] = []
    private var knownBodies: [TemplateID?: Int] = [:]
    private var knownHeaders: [HeaderKey: Int] = [:]
    /// The first target of the last run.
    private var latest: Int?
    private let isTemplate: Bool

    init(_ message: AcceptedMessage, _ page: TargetPage, _ pushes: [TemplateID: RenderedPush]) {
        self.message = message
        self.page = page
        self.pushes = pushes
        isTemplate = message.format == .template
    }

    /// Takes the target at this place.
    mutating func add(_ index: Int) {
        let position = runs.last?.positions.upperBound ?? 0
        if let latest, page.areAlike(latest, index) {
            let start = runs[runs.count - 1].positions.lowerBound
            runs[runs.count - 1].positions = start..<position + 1
        } else {
            runs.append(run(index, at: position))
            latest = index
        }
    }

    private mutating func run(_ index: Int, at position: Int) -> PushTargets.Run {
        let template = isTemplate ? page.template(index) : nil
        let push = template.flatMap { pushes[$0] }
        let key = HeaderKey(template: template, topic: push?.topic ?? message.topic ?? page.topic(index))
        return PushTargets.Run(
            positions: position..<position + 1, environment: page.environment(index), body: body(template, push),
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
