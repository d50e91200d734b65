import PushHub
import RichPushModel
import ServiceErrors

/// What there is to do at APNs for channels: the pushes of activities, and the deletion of channels whose time has passed.
///
/// Every node does this. It waits for answers of APNs, so other work must not wait for it.
struct ChannelKeeper {
    /// How many requests are open at once.
    private static let limit = 32
    /// How many channels are deleted in a round, one after the other.
    private static let deletions = 8
    /// The pause after a deletion that failed, with up to as much again.
    private static let pause: Int64 = 60_000

    let parts: BackendParts

    /// Does what is due, at most a batch; returns how many pieces went well.
    func work() async throws -> Int {
        let published = try await ActivityPublisher(parts: parts).publishOnChannels(limit: Self.limit)
        return try await published + deleteDue()
    }

    private func deleteDue() async throws -> Int {
        guard let channels = parts.channels else { return 0 }
        var deleted = 0
        for channel in try await parts.store.dueChannels(at: parts.clock.now, limit: Self.deletions) {
            do {
                try await channels.delete(channel.draft.apnsChannel)
            } catch  where error.code != .notFound {
                let pause = Duration.milliseconds(Self.pause + Int64.random(in: 0...Self.pause))
                try await parts.store.postponeChannel(channel.id, until: parts.clock.now + pause)
                parts.logger.warning(
                    "A channel is deleted later",
                    metadata: ["channel_id": "\(channel.id)", "error_code": "\(error.code.rawValue)"])
                continue
            } catch {}
            try await parts.store.removeChannel(channel.id)
            deleted += 1
        }
        return deleted
    }
}
