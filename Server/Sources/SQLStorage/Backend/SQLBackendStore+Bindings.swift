import AppBackend
import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors

/// Bindings, and the changes of devices that have begun.
extension SQLBackendStore {
    public func bind(
        _ device: BoundDevice, to user: UserID, with credential: BindingCredential, devices: Int, mark: Int64, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> BindingOutcome {
        try await writing { transaction in
            try transaction.requireUser(user)
            if case .presented(let digest) = credential, try transaction.credentialDigest(of: device.record) != digest {
                return .credentialReplaced
            }
            if let version = credential.version, try transaction.user(user)?.credentialVersion != version {
                return .credentialReplaced
            }
            let isSignIn =
                switch credential {
                case .issue, .exchange: true
                case .presented: false
                // Such a device is registered again at each start of its app.
                case .password: try transaction.currentBinding(of: device.record)?.user != user
                }
            let outcome = try transaction.bind(device, to: user, devices: devices, at: now, entry)
            guard case .bound(_, let replaced, _) = outcome else { return outcome }
            if let issued = credential.issued {
                try transaction.issue(issued)
                // Last, so that a token is not spent on an installation that is refused.
                if case .exchange(_, let token) = credential { try transaction.consume(token, for: issued, at: now) }
            }
            if isSignIn { try transaction.audit(entry) }
            for record in [device.record] + replaced { try transaction.begin(DeviceChange(record, mark: mark), at: now) }
            return outcome
        }
    }

    public func unbind(
        _ record: RecordID, from user: UserID, if condition: UnbindingCondition, mark: Int64, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> UnbindingOutcome {
        try await writing { transaction in
            let outcome = try transaction.unbind(record, from: user, if: condition, at: now)
            if outcome == .unbound {
                try transaction.begin(DeviceChange(record, mark: mark), at: now)
                try transaction.audit(entry)
            }
            return outcome
        }
    }

    public func currentBinding(of record: RecordID) async throws -> Binding? {
        try await reading { try $0.currentBinding(of: record) }
    }

    public func lastBinding(of record: RecordID) async throws -> Binding? {
        try await reading { try $0.lastBinding(of: record) }
    }

    public func bindingState(of record: RecordID) async throws -> BindingState {
        try await reading { try $0.bindingState(of: record) }
    }

    public func bindings(of user: UserID, since mark: OrderNumber, limit: Int) async throws -> [Binding] {
        try await reading { try $0.bindings(of: user, since: mark, limit: limit) }
    }

    public func sharers(of record: RecordID) async throws -> [RecordID] {
        try await reading { transaction in
            try transaction.rows(BindingSQL.selectSharers, record).map { try $0.parsed(0) { RecordID($0) } }
        }
    }

    public func takenDevices(from user: UserID, limit: Int) async throws -> [TakenDevice] {
        try await reading { transaction in
            try transaction.rows(BindingSQL.selectTaken, user, limit).map {
                TakenDevice(
                    id: String(try $0.text(0).dropFirst(AuditEntry.installation("").utf8.count)), takenAt: try $0.moment(1))
            }
        }
    }

    public func begin(_ change: DeviceChange, at now: Timestamp) async throws {
        try await writing { try $0.begin(change, at: now) }
    }

    public func end(_ change: DeviceChange) async throws {
        _ = try await writing { try $0.run(BindingSQL.deleteChange, change.record, change.mark) }
    }

    public func unendedChanges(begunBefore moment: Timestamp, limit: Int) async throws -> [RecordID] {
        try await reading { transaction in
            try transaction.rows(BindingSQL.selectUnended, moment, limit).map { try $0.parsed(0) { RecordID($0) } }
        }
    }

    public func endChanges(of record: RecordID, begunBefore moment: Timestamp) async throws {
        _ = try await writing { try $0.run(BindingSQL.deleteChanges, record, moment) }
    }
}

extension BackendTransaction {
    func begin(_ change: DeviceChange, at now: Timestamp) throws {
        try run(BindingSQL.insertChange, change.record, change.mark, now)
    }

    func bindings(of user: UserID, since mark: OrderNumber, limit: Int) throws -> [Binding] {
        try rows(BindingSQL.selectSince, user, mark, limit).map(BindingSQL.binding)
    }

    /// Closes every binding of a user, for the transaction that removes them; returns the records.
    func closeBindings(of user: UserID, at now: Timestamp) throws -> [RecordID] {
        let held = try rows(BindingSQL.selectHeld, user).map(BindingSQL.binding)
        for binding in held { try close(binding, at: now) }
        return held.map(\.device.record)
    }

    /// The records that are bound to a user now.
    func boundRecords(of user: UserID) throws -> [RecordID] {
        try rows(BindingSQL.selectHeld, user).map { try BindingSQL.binding($0).device.record }
    }

    /// Removes the tags of a user that none of their bindings remembers.
    func pruneTags(of user: UserID) throws {
        let remembered = try rows(BindingSQL.selectAll, user).map(BindingSQL.binding)
        try removeTags(of: user, among: BindingSQL.selectTags, butFor: remembered)
    }

    private func removeTags(of user: UserID, among statement: SQLStatement, butFor bindings: [Binding]) throws {
        let kept = Set(bindings.flatMap { $0.device.matchingTags.map { AudienceKey.tag($0).text } })
        for row in try rows(statement, user) where !kept.contains(try row.text(0)) {
            try run(BindingSQL.deleteTag, user, row.values[0])
        }
    }

    func currentBinding(of record: RecordID) throws -> Binding? {
        try row(BindingSQL.selectCurrent, record).map(BindingSQL.binding)
    }

    fileprivate func lastBinding(of record: RecordID) throws -> Binding? {
        try row(BindingSQL.selectLast, record).map(BindingSQL.binding)
    }

    fileprivate func bindingState(of record: RecordID) throws -> BindingState {
        BindingState(binding: try currentBinding(of: record)?.number, credential: try credentialDigest(of: record))
    }

    fileprivate func bind(
        _ device: BoundDevice, to user: UserID, devices: Int, at now: Timestamp, _ entry: AuditEntry?
    ) throws -> BindingOutcome {
        let old = try currentBinding(of: device.record)
        if let old, old.user != user {
            guard let handle = old.device.handle, handle == device.handle, old.device.platform == device.platform else {
                return .heldByAnother
            }
            try removeCredential(of: device.record)
            try noteTaken(old, by: entry)
        }
        let others = try closeOthers(of: device, user, at: now, entry)
        let replaced = others.map(\.device.record)
        let taken = ([old].compactMap(\.self) + others).filter { $0.user != user }.map(\.device.record)
        if let old, old.user == user, old.device.isRegistered(as: device) {
            return .bound(try note(device.facts, of: old), replaced: replaced, taken: taken)
        }
        if old?.user != user { try requirePlace(of: user, devices: devices) }
        if let old { try close(old, at: now) }
        try requireRoom(of: user)
        let binding = try insert(device, of: user, at: now)
        try remember(device.matchingTags, of: user, at: now)
        return .bound(binding, replaced: replaced, taken: taken)
    }

    /// Notes that a user lost a device in the act of an entry.
    private func noteTaken(_ lost: Binding, by entry: AuditEntry?) throws {
        let name = try user(lost.user)?.name.text ?? ""
        try audit(entry?.causing(.deviceTaken, subject: name, details: AuditEntry.installation(lost.device.record.text)))
    }

    private func closeOthers(
        of device: BoundDevice, _ user: UserID, at now: Timestamp, _ entry: AuditEntry?
    ) throws -> [Binding] {
        guard let handle = device.handle else { return [] }
        let others = try rows(BindingSQL.selectOthers, device.platform.rawValue, handle.text, device.record)
            .map(BindingSQL.binding)
        for other in others {
            try close(other, at: now)
            try removeCredential(of: other.device.record)
            if other.user != user { try noteTaken(other, by: entry) }
        }
        return others
    }

    /// Facts that a device reports change its binding.
    private func note(_ facts: DeviceFacts?, of binding: Binding) throws -> Binding {
        guard binding.device.facts != facts else { return binding }
        try run(BindingSQL.setFacts, binding.number, facts?.stored)
        var noted = binding
        noted.device.facts = facts
        return noted
    }

    private func close(_ binding: Binding, at now: Timestamp) throws {
        // A clock that went back must not make a binding end before it began.
        try run(BindingSQL.closeOne, binding.number, max(now, binding.from))
    }

    private func insert(_ device: BoundDevice, of user: UserID, at now: Timestamp) throws -> Binding {
        let number = try next(.binding)
        let order = try row(
            BindingSQL.insertOne, number, user, device.record, device.kind.rawValue, device.platform.rawValue,
            device.handle?.text, device.environment, device.topic, device.tags.map(\.text).joined(separator: ","), now,
            device.sealingKey, device.facts?.stored)?.integer(0)
        return Binding(number: number, user: user, device: device, from: now, order: OrderNumber(order ?? 0))
    }

    fileprivate func unbind(
        _ record: RecordID, from user: UserID, if condition: UnbindingCondition, at now: Timestamp
    ) throws -> UnbindingOutcome {
        guard let last = try lastBinding(of: record), last.user == user else { return .foreign }
        guard last.until == nil else { return .unbound }
        let state = try bindingState(of: record)
        let isMeant =
            switch condition {
            case .unchanged(let seen): state == seen
            case .credential(let digest): state.credential == digest
            }
        guard isMeant else { return .superseded }
        try close(last, at: now)
        try removeCredential(of: record)
        return .unbound
    }
}

/// Other tags for all devices of a user.
extension BackendTransaction {
    /// Binds the devices again on which a user is signed in, where these tags in place of those of `user` make a difference, and
    /// notes each as a change that has begun. Returns their records, or `nil` when more would be remembered than may be: then
    /// nothing has changed.
    func bindDevices(of user: User, with tags: [Tag], mark: Int64, at now: Timestamp) throws -> [RecordID]? {
        let changes = try rows(BindingSQL.selectHeld, user.id).map(BindingSQL.binding)
            .map { (old: $0, new: $0.device.retagged(tags, of: user)) }
            .filter { $0.old.device.tags != $0.new.tags }
        guard !changes.isEmpty else { return [] }
        let keys = Set(changes.flatMap { $0.new.matchingTags.map { AudienceKey.tag($0).text } })
        guard try hasRoom(for: changes.count, of: user.id), let unknown = try room(for: keys, of: user.id, at: now) else {
            return nil
        }
        for change in changes {
            try close(change.old, at: now)
            _ = try insert(change.new, of: user.id, at: now)
            try begin(DeviceChange(change.new.record, mark: mark), at: now)
        }
        for key in unknown.sorted() { try run(BindingSQL.insertTag, user.id, key) }
        return changes.map(\.new.record)
    }

    /// Those of the keys that are not remembered yet, if there is room for them: if need be, without tags that open nothing.
    private func room(for keys: Set<String>, of user: UserID, at now: Timestamp) throws -> Set<String>? {
        for isLast in [false, true] {
            let known = Set(try rows(BindingSQL.selectTags, user).map { try $0.text(0) })
            if known.union(keys).count <= BindingLimits.tags { return keys.subtracting(known) }
            if !isLast { try forgetIdleTags(of: user, at: now) }
        }
        return nil
    }
}

/// What is remembered of one user, and no more.
extension BackendTransaction {
    private func hasRoom(for bindings: Int, of user: UserID) throws -> Bool {
        let limit = BindingLimits.bindings
        return try count(BindingSQL.countBindings, of: user, limit: limit) + bindings <= limit
    }

    /// Throws `quota-exceeded` when there is no room for another binding.
    private func requireRoom(of user: UserID) throws {
        let limit = BindingLimits.bindings
        guard try hasRoom(for: 1, of: user) else {
            throw ServiceError(
                .quotaExceeded,
                "your devices changed \(limit) times; no more is remembered while notifications of that time stay")
        }
    }

    /// Throws `quota-exceeded` when the user is signed in on `devices` already.
    private func requirePlace(of user: UserID, devices: Int) throws {
        guard try count(BindingSQL.countDevices, of: user, limit: devices) < devices else {
            throw ServiceError(
                .quotaExceeded, "your account is signed in on \(devices) devices, and no more may be; sign one out")
        }
    }

    /// Adds the tags of a binding that was just inserted. Throws `quota-exceeded` when they are too many even without those that
    /// open nothing.
    private func remember(_ tags: Set<Tag>, of user: UserID, at now: Timestamp) throws {
        var isNew = false
        for tag in tags where try run(BindingSQL.insertTag, user, AudienceKey.tag(tag)) > 0 { isNew = true }
        guard isNew, try isOverfull(user) else { return }
        try forgetIdleTags(of: user, at: now)
        guard try isOverfull(user) else { return }
        throw ServiceError(
            .quotaExceeded,
            "tags: your devices have or had \(BindingLimits.tags) different tags; use those, or wait until old ones are forgotten"
        )
    }

    /// A tag opens nothing when no notification names it and every device that had it lost it long enough ago: what is sent
    /// from now on is for devices that have it.
    private func forgetIdleTags(of user: UserID, at now: Timestamp) throws {
        let limit = BindingLimits.bindingsWithinMargin
        let recent = try rows(BindingSQL.selectClosedSince, user, now - BindingLimits.margin, limit + 1)
        guard recent.count <= limit else { return }
        try removeTags(of: user, among: BindingSQL.selectIdleTags, butFor: try recent.map(BindingSQL.binding))
    }

    private func isOverfull(_ user: UserID) throws -> Bool {
        try count(BindingSQL.countTags, of: user, limit: BindingLimits.tags + 1) > BindingLimits.tags
    }

    /// Counts no further than the limit.
    private func count(_ statement: SQLStatement, of user: UserID, limit: Int) throws -> Int {
        Int(try row(statement, user, limit)?.integer(0) ?? 0)
    }
}

extension SQLStatement { static let ofBindings = BindingSQL.all }

private enum BindingSQL {
    static let all = [
        selectCurrent, selectLast, selectOthers, selectSharers, selectSince, selectHeld, selectAll, selectTags, selectTaken,
        insertOne, insertTag, deleteTag, setFacts, closeOne, countBindings, countDevices, countTags, selectClosedSince,
        selectIdleTags, insertChange, deleteChange, selectUnended, deleteChanges,
    ]

    static func binding(_ row: SQLRow) throws -> Binding {
        let device = BoundDevice(
            record: try row.parsed(2) { RecordID($0) }, kind: try row.parsed(3, DeviceRecord.Kind.init(rawValue:)),
            platform: Platform(rawValue: try row.text(4)), handle: try row.optionalText(5).map(DeviceToken.init(canonical:)),
            environment: try row.optionalText(6), topic: try row.optionalText(7), tags: DeviceRow.tags(try row.text(8)),
            sealingKey: try row.optionalText(11), facts: try row.optionalText(12).flatMap(DeviceFacts.init(stored:)))
        return Binding(
            number: try row.integer(0), user: UserID(try row.integer(1)), device: device, from: try row.moment(9),
            order: OrderNumber(try row.integer(13)), until: try row.optionalMoment(10),
            endOrder: try row.optionalInteger(14).map(OrderNumber.init))
    }

    private static let columns =
        "binding_id, user_id, record_id, kind, platform, handle, environment, topic, tags, from_at, until_at, sealing_key, "
        + "facts, from_order, until_order"

    static let selectCurrent = SQLStatement(
        composed: "SELECT \(columns) FROM bindings WHERE app_id = $1 AND record_id = $2 AND until_at IS NULL")
    static let selectLast = SQLStatement(
        composed: "SELECT \(columns) FROM bindings WHERE app_id = $1 AND record_id = $2 ORDER BY binding_id DESC LIMIT 1")
    static let selectOthers = SQLStatement(
        composed: """
            SELECT \(columns) FROM bindings
            WHERE app_id = $1 AND platform = $2 AND handle = $3 AND record_id <> $4 AND until_at IS NULL
            """)
    static let selectSharers = SQLStatement(
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
    static let selectHeld = SQLStatement(
        composed: "SELECT \(columns) FROM bindings WHERE app_id = $1 AND user_id = $2 AND until_at IS NULL")
    static let selectAll = SQLStatement(composed: "SELECT \(columns) FROM bindings WHERE app_id = $1 AND user_id = $2")
    static let selectTags = SQLStatement("SELECT audience_key FROM user_tags WHERE app_id = $1 AND user_id = $2")
    static let deleteTag = SQLStatement("DELETE FROM user_tags WHERE app_id = $1 AND user_id = $2 AND audience_key = $3")
    static let insertOne = SQLStatement(
        composed: """
            INSERT INTO bindings (app_id, \(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, NULL, $12, $13,
                \(OrderNumbers.current), NULL) RETURNING from_order
            """)
    static let insertTag = SQLStatement(
        "INSERT INTO user_tags (app_id, user_id, audience_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
    static let selectTaken = SQLStatement(
        """
        SELECT e.details, e.happened_at FROM audit_entries e
        JOIN users u ON u.app_id = e.app_id AND e.subject_name = u.folded_name AND e.happened_at >= u.created_at
        WHERE e.app_id = $1 AND u.user_id = $2 AND e.action = 'device.taken' AND e.details IS NOT NULL
        ORDER BY e.happened_at DESC, e.entry_id LIMIT $3
        """)
    static let setFacts = SQLStatement("UPDATE bindings SET facts = $3 WHERE app_id = $1 AND binding_id = $2")
    static let closeOne = SQLStatement(
        composed: """
            UPDATE bindings SET until_at = $3, until_order = \(OrderNumbers.current), facts = NULL
            WHERE app_id = $1 AND binding_id = $2 AND until_at IS NULL
            """)
    static let countBindings = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT binding_id FROM bindings WHERE app_id = $1 AND user_id = $2 LIMIT $3) AS remembered")
    static let countDevices = SQLStatement(
        """
        SELECT COUNT(*) FROM (
            SELECT binding_id FROM bindings WHERE app_id = $1 AND user_id = $2 AND until_at IS NULL LIMIT $3) AS held
        """)
    static let countTags = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT audience_key FROM user_tags WHERE app_id = $1 AND user_id = $2 LIMIT $3) AS remembered")
    static let selectClosedSince = SQLStatement(
        composed: """
            SELECT \(columns) FROM bindings
            WHERE app_id = $1 AND user_id = $2 AND (until_at IS NULL OR until_at >= $3) ORDER BY binding_id DESC LIMIT $4
            """)
    static let selectIdleTags = SQLStatement(
        """
        SELECT t.audience_key FROM user_tags t WHERE t.app_id = $1 AND t.user_id = $2 AND NOT EXISTS (
            SELECT 1 FROM audience_index a WHERE a.app_id = t.app_id AND a.audience_key = t.audience_key)
        """)
    static let insertChange = SQLStatement(
        "INSERT INTO device_changes (app_id, record_id, mark, begun_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
    static let deleteChange = SQLStatement("DELETE FROM device_changes WHERE app_id = $1 AND record_id = $2 AND mark = $3")
    static let selectUnended = SQLStatement(
        """
        SELECT record_id, MIN(begun_at) AS oldest FROM device_changes WHERE app_id = $1 AND begun_at < $2
        GROUP BY record_id ORDER BY oldest, record_id LIMIT $3
        """)
    static let deleteChanges = SQLStatement("DELETE FROM device_changes WHERE app_id = $1 AND record_id = $2 AND begun_at < $3")
}
