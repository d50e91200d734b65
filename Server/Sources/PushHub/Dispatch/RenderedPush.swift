import RichPushModel

/// What a template made of the properties of a send, the same for every device that has the template.
struct RenderedPush: Hashable {
    var body: [UInt8]
    var pushType: String
    var priority: Int
    /// Seconds since 1970; 0 for now or never; absent means no such header.
    var expiration: Int64?
    var collapseID: String?
    var topic: String?

    /// Whether nobody needs it any more.
    func isOver(at now: Timestamp) -> Bool { expiration.map { $0 != 0 && $0 <= now.seconds } ?? false }
}

/// A push, or why there is none.
enum TemplateRendering: Hashable {
    case push(RenderedPush)
    case failed(TargetOutcome)
}
