import PushHub
import RichPushModel
import TagExpressions

/// The work that is to be dispatched.
public struct SQLSliceQueue: SliceQueue {
    let database: any SQLDatabase
    private let leaseStatement: SQLStatement

    public init(_ database: any SQLDatabase) {
        self.database = database
        leaseStatement = Self.lease(database.dialect)
    }

    public func lease(_ request: LeaseRequest) async throws -> [SliceLease] {
        // Read first, so that nodes that poll at the same time do not conflict; mostly nothing is due.
        let waiting = try await waiting(request)
        guard !waiting.isEmpty else { return [] }
        let statement = leaseStatement
        return try await database.writing { connection in
            var leases: [SliceLease] = []
            func take(_ weight: SliceWeight, _ limit: Int) throws {
                var turns = FairScheduler(free: limit, waiting: waiting[weight] ?? [], held: request.held[weight] ?? [:])
                while case let asked = turns.next(), !asked.isEmpty {
                    for (hub, count) in asked {
                        let found = try Self.lease(count, weight, of: hub, request, by: statement, connection)
                        leases += found
                        turns.took(found.count, of: count, from: hub)
                    }
                }
            }
            try take(.small, min(request.smallLimit, request.limit))
            try take(.large, min(request.largeLimit, request.limit - leases.count))
            try take(.single, request.singleLimit)
            for lease in leases { try Self.markDispatching(lease, request.now, connection) }
            return leases
        }
    }

    /// Takes slices of one hub. Of its large ones the platforms take turns: else one push service would wait until all that was due before
    /// had gone to another.
    private static func lease(
        _ count: Int, _ weight: SliceWeight, of hub: HubID, _ request: LeaseRequest, by statement: SQLStatement,
        _ connection: any SQLConnection
    ) throws -> [SliceLease] {
        func take(_ count: Int, _ platform: String?) throws -> [SliceLease] {
            try connection.rows(statement, values(request, weight, hub, count) + [.optional(platform)]).map(lease)
        }
        guard weight == .large else { return try take(count, nil) }
        let now = SQLValue.integer(request.now.milliseconds)
        let waiting = try connection.rows(waitingPlatforms, [.integer(weight.rawValue), .integer(hub.number), now]).map {
            FairScheduler.Waiting(try $0.text(0), since: Timestamp(milliseconds: try $0.integer(1)))
        }
        var turns = FairScheduler(free: count, waiting: waiting, held: request.heldPlatforms[hub] ?? [:])
        var leases: [SliceLease] = []
        while case let asked = turns.next(), !asked.isEmpty {
            for (platform, count) in asked {
                let found = try take(count, platform)
                leases += found
                turns.took(found.count, of: count, from: platform)
            }
        }
        return leases
    }

    /// The hubs with slices that are due and free, by kind.
    private func waiting(_ request: LeaseRequest) async throws -> [SliceWeight: [FairScheduler<HubID>.Waiting]] {
        try await database.reading { connection in
            let now = SQLValue.integer(request.now.milliseconds)
            let lost = try connection.rows(Self.lostSlices, [now, .integer(Self.scanLimit)]).map(WaitingSlice.init)
            var waiting: [SliceWeight: [FairScheduler<HubID>.Waiting]] = [:]
            for weight in SliceWeight.allCases where request.asks(for: weight) {
                let key = SQLValue.integer(weight.rawValue)
                var found = try connection.rows(Self.freeSlices, [key, now, .integer(Self.scanLimit)]).map(WaitingSlice.init)
                // At the limit, further hubs may wait that these rows do not show.
                if found.count == Self.scanLimit || lost.count == Self.scanLimit {
                    found = try connection.rows(Self.waitingHubs, [key, now]).map(WaitingSlice.init)
                } else {
                    found += lost.filter { $0.weight == weight.rawValue }
                }
                if !found.isEmpty { waiting[weight] = WaitingSlice.byHub(found) }
            }
            return waiting
        }
    }

    /// The most slices to read to find the waiting hubs.
    static let scanLimit: Int64 = 64

    public func count(
        _ targets: [SliceKey], for cap: FrequencyCap, of slice: SliceID, at now: Timestamp
    ) async throws -> Set<SliceKey> {
        try await database.writing { connection in
            try FrequencyCounts(cap: cap, hub: slice.hub, send: slice.notification, now: now).hold(targets, connection)
        }
    }

    public func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool {
        try await database.writing { connection in
            try connection.run(Self.renew, Self.key(lease) + [.integer(until.milliseconds)]) > 0
        }
    }

    public func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
        try await database.writing { connection in
            // The process that died may have sent a paced slice's pushes a moment ago. After this time they no longer count against its
            // pace.
            let paid = SQLValue.integer((now + Self.longestPace).milliseconds)
            guard let owner else { return try connection.run(Self.releaseAll, [paid]) }
            return try connection.run(Self.releaseOwn, [paid, .text(owner)])
        }
    }

    public func release(of owner: String, except kept: Set<SliceID>) async throws -> Int {
        try await database.writing { connection in
            var count = 0
            for row in try connection.rows(Self.selectOwn, [.text(owner)]) {
                guard let notification = NotificationID(try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
                let id = SliceID(hub: HubID(try row.integer(0)), notification: notification, number: try row.integer(2))
                guard !kept.contains(id) else { continue }
                count += try connection.run(
                    Self.releaseOne, [.integer(id.hub.number), .text(id.notification.text), .integer(id.number), .text(owner)])
            }
            return count
        }
    }
}

extension LeaseRequest {
    fileprivate func asks(for weight: SliceWeight) -> Bool {
        switch weight {
        case .single: singleLimit > 0
        case .small: min(smallLimit, limit) > 0
        case .large: min(largeLimit, limit) > 0
        }
    }
}

extension SQLSliceQueue {
    /// The slice and the epoch of the lease: `$1` to `$4` of every conditional statement.
    static func key(_ lease: SliceLease) -> [SQLValue] {
        [
            .integer(lease.id.hub.number), .text(lease.id.notification.text), .integer(lease.id.number), .integer(lease.epoch),
        ]
    }

    private static func values(_ request: LeaseRequest, _ weight: SliceWeight, _ hub: HubID, _ limit: Int) -> [SQLValue] {
        [
            .text(request.owner), .integer(request.until.milliseconds), .integer(request.now.milliseconds),
            .integer(weight.rawValue), .integer(Int64(limit)), .integer(hub.number),
        ]
    }

    private static func lease(_ row: SQLRow) throws -> SliceLease {
        guard let notification = NotificationID(try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        return SliceLease(
            id: SliceID(hub: HubID(try row.integer(0)), notification: notification, number: try row.integer(2)),
            cursor: SliceKey(try row.integer(3)), last: SliceKey(try row.integer(4)),
            weight: SliceWeight(rawValue: try row.integer(5)) ?? .large,
            platform: try row.optionalText(11).map(Platform.init(rawValue:)), walked: Int(try row.integer(6)),
            failures: Int(try row.integer(7)), stalledSince: try row.optionalInteger(8).map(Timestamp.init(milliseconds:)),
            pushesPerSecond: try row.optionalInteger(10).map(Int.init), epoch: try row.integer(9))
    }

    private static func markDispatching(_ lease: SliceLease, _ now: Timestamp, _ connection: any SQLConnection) throws {
        let key: [SQLValue] = [.integer(lease.id.hub.number), .text(lease.id.notification.text)]
        // A scheduled send begins with its first lease: devices that have registered by now are in its audience.
        guard let row = try connection.row(markDispatching, key + [.integer(now.milliseconds)]),
            try row.optionalInteger(0) == nil
        else { return }
        try connection.run(setMark, key + [.integer(try OrderNumbers.mark(connection).number)])
    }

    static func all(_ dialect: SQLDialect) -> [SQLStatement] {
        [
            lease(dialect), freeSlices, lostSlices, waitingHubs, waitingPlatforms, markDispatching, setMark, renew, releaseAll,
            releaseOwn, selectOwn, releaseOne,
        ]
            + checkpointStatements + pageStatements
            + AudienceStatements.all + DueRows.all
    }

    /// Slices that are due and free, in queue order over all hubs; slices that are not due are not read.
    static let freeSlices = SQLStatement(
        """
        SELECT hub_id, ready_at, weight FROM slices WHERE weight = $1 AND owner IS NULL AND ready_at <= $2
        ORDER BY ready_at LIMIT $3
        """)
    /// Slices whose lease has expired; only leased slices are read.
    static let lostSlices = SQLStatement(
        "SELECT hub_id, ready_at, weight FROM slices WHERE owner IS NOT NULL AND leased_until <= $1 LIMIT $2")
    /// Goes from hub to hub with one index search each.
    static let waitingHubs = SQLStatement(
        """
        WITH RECURSIVE hubs (hub_id) AS (
            SELECT MIN(hub_id) FROM slices WHERE weight = $1
            UNION ALL
            SELECT (SELECT MIN(s.hub_id) FROM slices s WHERE s.weight = $1 AND s.hub_id > hubs.hub_id)
            FROM hubs WHERE hubs.hub_id IS NOT NULL)
        SELECT hub_id, ready_at, CAST($1 AS BIGINT) FROM (
            SELECT hub_id, (
                SELECT s.ready_at FROM slices s
                WHERE s.weight = $1 AND s.hub_id = hubs.hub_id AND s.ready_at <= $2
                    AND (s.owner IS NULL OR s.leased_until <= $2)
                ORDER BY s.ready_at LIMIT 1) AS ready_at
            FROM hubs WHERE hub_id IS NOT NULL) AS waiting
        WHERE ready_at IS NOT NULL
        """)

    /// The platforms of a hub's slices that are due and free, each since its earliest.
    static let waitingPlatforms = SQLStatement(
        """
        SELECT COALESCE(platform, ''), MIN(ready_at) FROM slices
        WHERE weight = $1 AND hub_id = $2 AND ready_at <= $3 AND (owner IS NULL OR leased_until <= $3)
        GROUP BY COALESCE(platform, '')
        """)

    /// `ready_at` orders the queue of a hub. A leased slice stays where it is and is found again when its lease has run out. What is due
    /// is looked for once: looked for again for each row, as a planner may, rows that were locked meanwhile would make the
    /// limit count anew.
    static func lease(_ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            composed: """
                WITH due AS MATERIALIZED (
                    SELECT hub_id, notification_id, slice FROM slices
                    WHERE weight = $4 AND hub_id = $6 AND ready_at <= $3 AND (owner IS NULL OR leased_until <= $3)
                        AND (CAST($7 AS TEXT) IS NULL OR COALESCE(platform, '') = CAST($7 AS TEXT))
                    ORDER BY ready_at LIMIT $5\(dialect.skipLocked))
                UPDATE slices SET owner = $1, leased_until = $2, epoch = epoch + 1
                WHERE (hub_id, notification_id, slice) IN (SELECT hub_id, notification_id, slice FROM due)
                RETURNING hub_id, notification_id, slice, cursor_key, last_key, weight, walked, failures, stalled_since, epoch,
                    pushes_per_second, platform
                """)
    }

    private static let markDispatching = SQLStatement(
        """
        UPDATE notifications SET state = 'dispatching', started_at = COALESCE(started_at, $3)
        WHERE hub_id = $1 AND notification_id = $2 AND state IN ('scheduled', 'accepted')
        RETURNING order_mark
        """)
    private static let setMark = SQLStatement(
        "UPDATE notifications SET order_mark = $3 WHERE hub_id = $1 AND notification_id = $2")
    private static let renew = SQLStatement(
        """
        UPDATE slices SET leased_until = $5
        WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND epoch = $4 AND owner IS NOT NULL
        """)
    /// A pace makes a slice wait at most so long.
    private static let longestPace: Duration = .seconds(1)

    private static let freed = """
        UPDATE slices SET owner = NULL, leased_until = NULL,
            ready_at = CASE WHEN pushes_per_second IS NULL OR ready_at > $1 THEN ready_at ELSE $1 END
        """
    private static let releaseOwn = SQLStatement(composed: freed + " WHERE owner = $2")
    private static let selectOwn = SQLStatement("SELECT hub_id, notification_id, slice FROM slices WHERE owner = $1")
    private static let releaseOne = SQLStatement(
        """
        UPDATE slices SET owner = NULL, leased_until = NULL
        WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND owner = $4
        """)
    private static let releaseAll = SQLStatement(composed: freed + " WHERE owner IS NOT NULL")
}

/// A slice that may be leased, as far as it takes to let hubs take turns.
private struct WaitingSlice: Sendable {
    let hub: HubID
    let since: Timestamp
    let weight: Int64

    init(_ row: SQLRow) throws {
        hub = HubID(try row.integer(0))
        since = Timestamp(milliseconds: try row.integer(1))
        weight = try row.integer(2)
    }

    /// The hubs that wait, each since its earliest.
    static func byHub(_ slices: [WaitingSlice]) -> [FairScheduler<HubID>.Waiting] {
        var earliest: [HubID: Timestamp] = [:]
        for slice in slices { earliest[slice.hub] = min(earliest[slice.hub] ?? slice.since, slice.since) }
        return earliest.map { FairScheduler.Waiting($0.key, since: $0.value) }.sorted { $0.key < $1.key }
    }
}
