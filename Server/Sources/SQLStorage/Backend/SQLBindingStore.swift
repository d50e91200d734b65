import AppBackend
import PushHub
import RichPushModel

/// The bindings of one app.
public struct SQLBindingStore: BindingStore {
    let database: any SQLDatabase
    let app: AppID

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
    }

    public func bind(
        _ device: BoundDevice, to user: UserID, with credential: BindingCredential, devices: Int, mark: Int64, at now: Timestamp
    ) async throws -> BindingOutcome {
        try await database.writing { [app] connection in
            try BackendRows.requireUser(user, app, connection)
            if case .presented(let digest) = credential,
                try SQLCredentialStore.digest(of: device.record, app, connection) != digest
            {
                return .credentialReplaced
            }
            if case .issue(let issued) = credential,
                try SQLUserStore.credentialVersion(of: user, app, connection) != issued.credentialVersion
            {
                return .credentialReplaced
            }
            let outcome = try Self.bind(device, to: user, devices: devices, app, at: now, connection)
            guard case .bound(_, let replaced, _) = outcome else { return outcome }
            if case .issue(let issued) = credential { try SQLCredentialStore.issue(issued, app, connection) }
            for record in [device.record] + replaced {
                try Self.begin(DeviceChange(record, mark: mark), app, at: now, connection)
            }
            return outcome
        }
    }

    private static func bind(
        _ device: BoundDevice, to user: UserID, devices: Int, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> BindingOutcome {
        let old = try current(device.record, app, connection)
        if let old, old.user != user {
            guard let handle = old.device.handle, handle == device.handle, old.device.platform == device.platform else {
                return .heldByAnother
            }
            try handOver(old, to: user, app, at: now, connection)
        }
        let others = try closeOthers(of: device, user, app, at: now, connection)
        let replaced = others.map(\.device.record)
        let taken = ([old].compactMap(\.self) + others).filter { $0.user != user }.map(\.device.record)
        if let old, old.user == user, old.device.isRegistered(as: device) {
            return .bound(try note(device.facts, of: old, app, connection), replaced: replaced, taken: taken)
        }
        if old?.user != user { try requirePlace(of: user, devices: devices, app, connection) }
        if let old { try close(old, app, at: now, connection) }
        try requireRoom(of: user, app, connection)
        let binding = try insert(device, of: user, app, at: now, connection)
        try remember(device.matchingTags, of: user, app, at: now, connection)
        return .bound(binding, replaced: replaced, taken: taken)
    }

    /// What a device tells of itself is news of the same binding.
    private static func note(
        _ facts: DeviceFacts?, of binding: Binding, _ app: AppID, _ connection: any SQLConnection
    ) throws -> Binding {
        guard binding.device.facts != facts else { return binding }
        try connection.run(
            setFacts, [.optional(facts?.stored), .integer(app.number), .integer(binding.number)])
        var noted = binding
        noted.device.facts = facts
        return noted
    }

    public func current(_ record: RecordID) async throws -> Binding? {
        try await database.reading { [app] in try Self.current(record, app, $0) }
    }

    public func last(_ record: RecordID) async throws -> Binding? {
        try await database.reading { [app] connection in
            try connection.row(Self.selectLast, [.integer(app.number), .text(record.text)]).map(Self.binding)
        }
    }

    public func sharers(of record: RecordID) async throws -> [RecordID] {
        try await database.reading { [app] connection in
            try connection.rows(Self.selectSharers, [.integer(app.number), .text(record.text)]).map { row in
                guard let sharer = RecordID(try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
                return sharer
            }
        }
    }

    public func state(of record: RecordID) async throws -> BindingState {
        try await database.reading { [app] in try Self.state(of: record, app, $0) }
    }

    public func unbind(
        _ record: RecordID, from user: UserID, if condition: UnbindingCondition, mark: Int64, at now: Timestamp
    ) async throws -> UnbindingOutcome {
        try await database.writing { [app] connection in
            let outcome = try Self.unbind(record, from: user, if: condition, app, at: now, connection)
            if outcome == .unbound { try Self.begin(DeviceChange(record, mark: mark), app, at: now, connection) }
            return outcome
        }
    }

    private static func unbind(
        _ record: RecordID, from user: UserID, if condition: UnbindingCondition, _ app: AppID, at now: Timestamp,
        _ connection: any SQLConnection
    ) throws -> UnbindingOutcome {
        guard let row = try connection.row(selectLast, [.integer(app.number), .text(record.text)]) else { return .foreign }
        let last = try binding(row)
        guard last.user == user else { return .foreign }
        guard last.until == nil else { return .unbound }
        let state = try state(of: record, app, connection)
        let isMeant =
            switch condition {
            case .unchanged(let seen): state == seen
            case .credential(let digest): state.credential == digest
            }
        guard isMeant else { return .superseded }
        try close(last, app, at: now, connection)
        try connection.run(SQLCredentialStore.deleteOfInstallation, [.integer(app.number), .text(record.text)])
        return .unbound
    }

    public func bindings(of user: UserID, since mark: OrderNumber, limit: Int) async throws -> [Binding] {
        try await database.reading { [app] in try Self.bindings(of: user, since: mark, limit: limit, app, $0) }
    }

    public func taken(from user: UserID, limit: Int) async throws -> [TakenRecord] {
        try await database.reading { [app] connection in
            try connection.rows(
                Self.selectTaken, [.integer(app.number), .integer(user.number), .integer(Int64(limit))]
            ).map { TakenRecord(record: try $0.text(0), at: Timestamp(milliseconds: try $0.integer(1))) }
        }
    }

    static func bindings(
        of user: UserID, since mark: OrderNumber, limit: Int, _ app: AppID, _ connection: any SQLConnection
    ) throws -> [Binding] {
        try connection.rows(
            selectSince, [.integer(app.number), .integer(user.number), .integer(mark.number), .integer(Int64(limit))]
        ).map(binding)
    }
}

extension SQLBindingStore {
    /// Closes every binding of a user, for the transaction that removes them; returns the records.
    static func closeAll(
        of user: UserID, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> [RecordID] {
        let held = try connection.rows(selectHeld, [.integer(app.number), .integer(user.number)]).map(binding)
        for binding in held { try close(binding, app, at: now, connection) }
        return held.map(\.device.record)
    }

    /// Removes the tags of a user that none of their bindings remembers.
    static func pruneTags(of user: UserID, _ app: AppID, _ connection: any SQLConnection) throws {
        let key: [SQLValue] = [.integer(app.number), .integer(user.number)]
        let remembered = try connection.rows(selectAll, key).map(binding)
        let kept = Set(remembered.flatMap { $0.device.matchingTags.map { AudienceKey.tag($0).text } })
        for row in try connection.rows(selectTags, key) where !kept.contains(try row.text(0)) {
            try connection.run(deleteTag, key + row.values)
        }
    }

    private static func state(of record: RecordID, _ app: AppID, _ connection: any SQLConnection) throws -> BindingState {
        BindingState(
            binding: try current(record, app, connection)?.number,
            credential: try SQLCredentialStore.digest(of: record, app, connection))
    }

    private static func current(_ record: RecordID, _ app: AppID, _ connection: any SQLConnection) throws -> Binding? {
        try connection.row(selectCurrent, [.integer(app.number), .text(record.text)]).map(binding)
    }

    private static func handOver(
        _ old: Binding, to user: UserID, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws {
        let record = old.device.record.text
        try connection.run(SQLCredentialStore.deleteOfInstallation, [.integer(app.number), .text(record)])
        try BackendRows.audit(
            "device-handed-over", user: user, other: old.user, record: record, app: app, at: now, connection)
    }

    private static func closeOthers(
        of device: BoundDevice, _ user: UserID, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> [Binding] {
        let others = try others(of: device, app, connection)
        for other in others {
            let record = other.device.record.text
            try close(other, app, at: now, connection)
            try connection.run(SQLCredentialStore.deleteOfInstallation, [.integer(app.number), .text(record)])
            try BackendRows.audit(
                "registration-replaced", user: user, other: other.user, record: record, app: app, at: now, connection)
        }
        return others
    }

    private static func others(
        of device: BoundDevice, _ app: AppID, _ connection: any SQLConnection
    ) throws -> [Binding] {
        guard let handle = device.handle else { return [] }
        return try connection.rows(
            selectOthers,
            [.integer(app.number), .text(device.platform.rawValue), .text(handle.text), .text(device.record.text)]
        ).map(binding)
    }

    private static func close(
        _ binding: Binding, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws {
        // A clock that went back must not make a binding end before it began.
        let end = max(now, binding.from)
        try connection.run(closeOne, [.integer(end.milliseconds), .integer(app.number), .integer(binding.number)])
    }

    private static func insert(
        _ device: BoundDevice, of user: UserID, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> Binding {
        let number = try BackendRows.next(.binding, of: app, connection)
        let order = try connection.row(
            insertOne,
            [
                .integer(app.number), .integer(number), .integer(user.number), .text(device.record.text),
                .text(device.kind.rawValue), .text(device.platform.rawValue), .optional(device.handle?.text),
                .optional(device.environment), .optional(device.topic),
                .text(device.tags.map(\.text).joined(separator: ",")), .integer(now.milliseconds),
                .optional(device.sealingKey), .optional(device.facts?.stored),
            ])?.integer(0)
        return Binding(number: number, user: user, device: device, from: now, order: OrderNumber(order ?? 0))
    }

    static func binding(_ row: SQLRow) throws -> Binding {
        guard let record = RecordID(try row.text(2)) else { throw SQLFault.unexpectedColumn(2) }
        guard let kind = DeviceRecord.Kind(rawValue: try row.text(3)) else { throw SQLFault.unexpectedColumn(3) }
        let device = BoundDevice(
            record: record, kind: kind, platform: Platform(rawValue: try row.text(4)),
            handle: try row.optionalText(5).map(DeviceHandle.init(canonical:)), environment: try row.optionalText(6),
            topic: try row.optionalText(7), tags: DeviceRow.tags(try row.text(8)),
            sealingKey: try row.optionalText(11), facts: try row.optionalText(12).flatMap(DeviceFacts.init(stored:)))
        return Binding(
            number: try row.integer(0), user: UserID(try row.integer(1)), device: device,
            from: Timestamp(milliseconds: try row.integer(9)), order: OrderNumber(try row.integer(13)),
            until: try row.optionalInteger(10).map(Timestamp.init(milliseconds:)),
            endOrder: try row.optionalInteger(14).map(OrderNumber.init))
    }
}

extension SQLBindingStore {
    static let all =
        limitStatements + changeStatements + [
            selectCurrent, selectLast, selectOthers, selectSharers, selectSince, selectHeld, selectAll, selectTags, insertOne,
            insertTag,
            deleteTag,
            setFacts, closeOne, selectTaken,
        ]

    static let columns =
        "binding_id, user_id, record_id, kind, platform, handle, environment, topic, tags, from_at, until_at, sealing_key, "
        + "facts, from_order, until_order"

    private static let selectCurrent = SQLStatement(
        composed: "SELECT \(columns) FROM bindings WHERE app_id = $1 AND record_id = $2 AND until_at IS NULL")
    private static let selectLast = SQLStatement(
        composed: "SELECT \(columns) FROM bindings WHERE app_id = $1 AND record_id = $2 ORDER BY binding_id DESC LIMIT 1")
    private static let selectOthers = SQLStatement(
        composed: """
            SELECT \(columns) FROM bindings
            WHERE app_id = $1 AND platform = $2 AND handle = $3 AND record_id <> $4 AND until_at IS NULL
            """)
    private static let selectSharers = SQLStatement(
        """
        SELECT DISTINCT b.record_id FROM bindings m
        JOIN bindings b ON b.app_id = m.app_id AND b.platform = m.platform AND b.handle = m.handle
        WHERE m.app_id = $1 AND m.record_id = $2 AND b.record_id <> $2 AND b.until_at IS NULL
        """)
    static let selectSince = SQLStatement(
        composed: """
            SELECT \(columns) FROM bindings
            WHERE app_id = $1 AND user_id = $2 AND (until_order IS NULL OR until_order > $3) ORDER BY binding_id DESC LIMIT $4
            """)
    private static let selectHeld = SQLStatement(
        composed: "SELECT \(columns) FROM bindings WHERE app_id = $1 AND user_id = $2 AND until_at IS NULL")
    private static let selectAll = SQLStatement(
        composed: "SELECT \(columns) FROM bindings WHERE app_id = $1 AND user_id = $2")
    private static let selectTags = SQLStatement("SELECT audience_key FROM user_tags WHERE app_id = $1 AND user_id = $2")
    static let deleteTag = SQLStatement(
        "DELETE FROM user_tags WHERE app_id = $1 AND user_id = $2 AND audience_key = $3")
    private static let insertOne = SQLStatement(
        composed: """
            INSERT INTO bindings (app_id, \(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, NULL, $12, $13,
                \(OrderNumbers.current), NULL) RETURNING from_order
            """)
    static let insertTag = SQLStatement(
        "INSERT INTO user_tags (app_id, user_id, audience_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
    private static let selectTaken = SQLStatement(
        """
        SELECT record_id, happened_at FROM backend_audit
        WHERE app_id = $1 AND other_user_id = $2 AND user_id <> $2 AND record_id IS NOT NULL
            AND event IN ('device-handed-over', 'registration-replaced') ORDER BY entry_id DESC LIMIT $3
        """)
    private static let setFacts = SQLStatement(
        "UPDATE bindings SET facts = $1 WHERE app_id = $2 AND binding_id = $3")
    private static let closeOne = SQLStatement(
        composed: """
            UPDATE bindings SET until_at = $1, until_order = \(OrderNumbers.current), facts = NULL
            WHERE app_id = $2 AND binding_id = $3 AND until_at IS NULL
            """)
}
