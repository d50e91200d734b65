import ClarionTesting
import PushHub
import RichPushModel
import TagExpressions
import Testing

import struct RichPushModel.Tag

/// The hub's storage ports on one engine.
public struct HubStorage: Sendable {
    public var hubs: any HubStore
    public var devices: any DeviceStore
    public var intake: any IntakeStore
    public var queue: any SliceQueue
    public var telemetry: any TelemetryStore

    /// Creates a set of ports on one empty store.
    public init(
        hubs: any HubStore, devices: any DeviceStore, intake: any IntakeStore, queue: any SliceQueue,
        telemetry: any TelemetryStore
    ) {
        self.hubs = hubs
        self.devices = devices
        self.intake = intake
        self.queue = queue
        self.telemetry = telemetry
    }
}

/// Values that the promises use.
enum Sample {
    static let start = Timestamp(milliseconds: 1_800_000_000_000)
    static let hub = HubID(1)
    static let otherHub = HubID(2)

    static func time(_ seconds: Int64) -> Timestamp { start + .seconds(seconds) }

    static func handle(_ number: Int) -> DeviceToken {
        let hexadecimal = String(number, radix: 16, uppercase: true)
        return DeviceToken(canonical: String(repeating: "0", count: 64 - hexadecimal.count) + hexadecimal)
    }

    static func record(_ name: String) throws -> RecordID { try #require(RecordID(name)) }

    static func tags(_ names: [String]) -> [Tag] { names.compactMap(Tag.init) }

    static func device(
        _ name: String, handle number: Int, tags: [String] = [], replaces: Bool = false
    ) throws -> DeviceUpsert {
        DeviceUpsert(
            id: try record(name), kind: .installation, handle: handle(number), tags: self.tags(tags), replacesSameHandle: replaces
        )
    }

    static func send(
        to audience: String? = nil, hub: HubID = hub, size: Int = 100, at now: Timestamp = start, due: Timestamp? = nil,
        pace: Int? = nil, key: AcceptedSend.Idempotency? = nil
    ) throws -> AcceptedSend {
        AcceptedSend(
            hub: hub, id: NotificationID(),
            message: AcceptedMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8), pushType: "alert", priority: 10),
            audience: try audience.map { try TagExpression(parsing: $0) }, enqueuedAt: now, dueAt: due ?? now,
            slices: SlicePlan(audience: size, pushesPerSecond: pace), pushesPerSecond: pace, idempotency: key)
    }

    static func lease(
        _ limit: Int, at now: Timestamp = start, owner: String = "a", large: Int? = nil, small: Int? = nil
    ) -> LeaseRequest {
        LeaseRequest(
            owner: owner, now: now, until: now + .seconds(60), limit: limit, smallLimit: small ?? limit,
            largeLimit: large ?? limit,
            singleLimit: limit)
    }

    static func page(_ lease: SliceLease, at now: Timestamp = start, limit: Int = 1000) -> PageRequest {
        PageRequest(lease: lease, now: now, limit: limit, scanLimit: 10_000, pendingLimit: 50)
    }
}
