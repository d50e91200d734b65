#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LocalAPNs {
    /// How often a device token was addressed.
    public struct RequestCounts: Sendable, Hashable {
        /// Requests with this token in their path, whatever the answer.
        public var requests = 0
        /// Those accepted.
        public var accepted = 0
    }

    /// Every request from now on, with its answer. Each reading of this property is a subscription of its own.
    public var exchanges: AsyncStream<APNsExchange> { core.observe() }

    /// What becomes from now on of accepted pushes that do not go to their device at once: that one is kept, takes another's
    /// place, expires. Each reading of this property is a subscription of its own.
    public var fates: AsyncStream<PushFate> { core.observeFates() }

    /// The newest requests, oldest first, as many as the retention allows.
    public var recordedExchanges: [APNsExchange] { core.state.withLockedValue { $0.recorder.recorded } }

    /// How often a device token was addressed; zero for a token that was never issued.
    public func requests(for token: String) -> RequestCounts {
        core.state.withLockedValue { $0.tokens.counts(of: token) }
    }

    /// The device that a token was issued to; `nil` for a token that was never issued.
    public func device(of token: String) -> String? {
        core.state.withLockedValue { $0.tokens[token.lowercased()]?.device }
    }

    /// How often each `apns-id` was accepted: more than 1 is a repeat.
    public var acceptanceCounts: [UUID: Int] { core.state.withLockedValue { $0.recorder.acceptances.mapValues(Int.init) } }

    /// How often this `apns-id` was accepted.
    public func acceptances(of apnsID: UUID) -> Int {
        core.state.withLockedValue { Int($0.recorder.acceptances[apnsID] ?? 0) }
    }

    /// What became of the push with this `apns-unique-id`; `nil` if it was never accepted or is no longer remembered.
    public func delivery(uniqueID: UUID) -> DeliveryRecord? {
        deliveries(uniqueID: uniqueID).first
    }

    /// What became of a broadcast, an entry for each device; of a push to a device token there is one at most.
    public func deliveries(uniqueID: UUID) -> [DeliveryRecord] {
        core.state.withLockedValue { $0.log.records(of: uniqueID) }
    }

    /// The delivery log, oldest first.
    public var deliveries: [DeliveryRecord] { core.state.withLockedValue { $0.log.records } }
}
