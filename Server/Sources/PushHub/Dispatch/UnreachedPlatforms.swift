import Logging
import RichPushModel
import Synchronization

/// Tells the log, once for each hub and platform while the process lives, that a send met only devices that no transport of this
/// version reaches: telemetry counts their pushes as skipped, where a sender may not look.
final class UnreachedPlatforms: Sendable {
    private struct Key: Hashable {
        var hub: HubID
        var platform: Platform
    }

    /// The log reports at most this many pairs.
    private static let capacity = 1_000

    private let told = Mutex<Set<Key>>([])

    /// Notes the plan of a page of which nothing is sent.
    func note(_ plan: PagePlan, of hub: HubID, _ logger: Logger) {
        guard plan.sends.isEmpty, plan.count > 0 else { return }
        let platforms = Set(plan.indices.filter { !plan.page.isGone($0) }.map(plan.page.platform))
        guard platforms.allSatisfy({ !$0.hasTransport }) else { return }
        for platform in platforms {
            let isNew = told.withLock { $0.count < Self.capacity && $0.insert(Key(hub: hub, platform: platform)).inserted }
            guard isNew else { continue }
            logger.warning(
                "A send met only devices of a platform without a transport: their pushes count as skipped",
                metadata: ["hub": "\(hub.number)", "platform": "\(platform.rawValue)"])
        }
    }
}
